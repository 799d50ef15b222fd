package dev.ratelimit.app;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.yaml.snakeyaml.Yaml;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The dashboard and the alerts ask for what there is: each name in their queries is one
 * that a gateway shows.
 */
@ExtendWith(RedisServers.class)
class MonitoringFilesIntegrationTests {

	private static final Path MONITORING = Path.of("../docs/monitoring");

	private static final Path DASHBOARD = MONITORING.resolve("grafana/dashboards/ratelimit.json");

	private static final Path ALERTS = MONITORING.resolve("prometheus/alerts.yml");

	/** What is no function, keyword or label: our names and those of the server. */
	private static final Pattern NAME = Pattern.compile("(?<![:\\w])(ratelimit|http_server)_\\w+");

	private final HttpClient client = HttpClient.newHttpClient();

	@Test
	void everyNameInAQueryIsScraped(RedisServer redis) throws IOException {
		Set<String> names = Stream.concat(dashboardQueries(), alertQueries())
			.flatMap((query) -> NAME.matcher(query).results())
			.map((result) -> result.group())
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(names).hasSizeGreaterThan(15);
		try (ConfigurableApplicationContext gateway = start(redis)) {
			edit(gateway);
			get(gateway, "local.server.port", "/watched");
			redis.freeze();
			get(gateway, "local.server.port", "/watched");
			redis.thaw();
			await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(scraped(gateway)).containsAll(names));
		}
	}

	@Test
	void countersThatAlertsReadAreAtZeroBeforeTheFirstRequest(RedisServer redis) throws IOException {
		try (ConfigurableApplicationContext gateway = start(redis)) {
			String scraped = get(gateway, "local.management.port", "/actuator/prometheus");
			assertThat(scraped.lines()).contains(
					"ratelimit_decisions_total{outcome=\"allowed\",policy=\"watched\",source=\"redis\",version=\"0\"} 0.0",
					"ratelimit_decisions_total{outcome=\"allowed\",policy=\"watched\",source=\"lease\",version=\"0\"} 0.0",
					"ratelimit_decisions_total{outcome=\"refused\",policy=\"watched\",source=\"redis\",version=\"0\"} 0.0",
					"ratelimit_degraded_total{mode=\"allow\",policy=\"watched\",reason=\"saturated\"} 0.0",
					"ratelimit_degraded_total{mode=\"allow\",policy=\"watched\",reason=\"internal\"} 0.0",
					"ratelimit_degraded_total{mode=\"local\",policy=\"watched\",reason=\"switch\"} 0.0");
			assertThat(counters()).allSatisfy((name) -> assertThat(scraped).contains("\n" + name));
			assertThat(scraped).containsPattern("ratelimit_outage_current_seconds\\{node=\"[^\"]+\"} 0.0");
		}
	}

	/** The counters in alerts, without those of a policy that settles. */
	private static Set<String> counters() throws IOException {
		return alertQueries().flatMap((query) -> NAME.matcher(query).results())
			.map((result) -> result.group())
			.filter((name) -> name.startsWith("ratelimit_") && name.endsWith("_total"))
			.filter((name) -> !name.equals("ratelimit_settle_total"))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	@Test
	void everyAlertHasASeverityAndAPlaceInTheRunbook() throws IOException {
		String runbook = Files.readString(MONITORING.resolveSibling("monitoring.md"));
		JsonNode rules = alertRules();
		rules.findParents("alert").forEach((rule) -> {
			String name = rule.get("alert").asText();
			assertThat(rule.at("/labels/severity").asText()).as(name).isIn("page", "warn");
			assertThat(rule.at("/annotations/summary").asText()).as(name).isNotBlank();
			assertThat(rule.at("/annotations/runbook_url").asText())
				.isEqualTo("docs/monitoring.md#" + name.toLowerCase(Locale.ROOT));
			assertThat(runbook).contains("\n### " + name + "\n");
		});
	}

	@Test
	void everyAlertIsSeenFiringAndSilent() throws IOException {
		JsonNode tests = new ObjectMapper()
			.valueToTree(new Yaml().<Object>load(Files.readString(MONITORING.resolve("prometheus/alerts-test.yml"))));
		Map<Boolean, Set<String>> tried = tests.findParents("alertname")
			.stream()
			.collect(Collectors.partitioningBy((check) -> check.path("exp_alerts").size() > 0,
					Collectors.mapping((check) -> check.get("alertname").asText(), Collectors.toSet())));
		Set<String> alerts = Set.copyOf(alertRules().findValuesAsText("alert"));
		assertThat(tried.get(true)).as("firing").isEqualTo(alerts);
		assertThat(tried.get(false)).as("silent").isEqualTo(alerts);
	}

	@Test
	void everyLinkOfTheRunbookNamesASectionThatExists() throws IOException {
		Path docs = MONITORING.resolveSibling("monitoring.md");
		String text = Files.readString(docs);
		String runbook = text.substring(text.indexOf("\n## Alerts\n"), text.indexOf("\n## Queries for Prometheus\n"));
		List<String> links = Pattern.compile("\\]\\(([\\w./-]*)(?:#([\\w-]+))?\\)")
			.matcher(runbook)
			.results()
			.map((link) -> link.group(1) + "#" + (link.group(2) != null ? link.group(2) : ""))
			.toList();
		assertThat(links).hasSizeGreaterThan(20);
		for (String link : links) {
			String[] parts = link.split("#", -1);
			Path page = parts[0].isEmpty() ? docs : docs.resolveSibling(parts[0]);
			assertThat(page).as(link).exists();
			assertThat(parts[1].isEmpty() || sections(page).contains(parts[1])).as(link).isTrue();
		}
	}

	/** Anchors of the headings, as they are made from their text. */
	private static Set<String> sections(Path page) throws IOException {
		return Files.readAllLines(page)
			.stream()
			.filter((line) -> line.startsWith("#"))
			.map((line) -> line.replaceFirst("^#+ ", "")
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\w -]", "")
				.replace(' ', '-'))
			.collect(Collectors.toSet());
	}

	private static Stream<String> dashboardQueries() throws IOException {
		JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
		assertThat(dashboard.get("uid").asText()).isEqualTo("ratelimit");
		return Stream.concat(dashboard.findValuesAsText("expr").stream(), dashboard.findValuesAsText("query").stream());
	}

	private static Stream<String> alertQueries() throws IOException {
		return alertRules().findValuesAsText("expr").stream();
	}

	private static JsonNode alertRules() throws IOException {
		return new ObjectMapper().valueToTree(new Yaml().<Object>load(Files.readString(ALERTS)));
	}

	private Set<String> scraped(ConfigurableApplicationContext gateway) {
		Matcher name = Pattern.compile("^[a-z]\\w*", Pattern.MULTILINE)
			.matcher(get(gateway, "local.management.port", "/actuator/prometheus"));
		return name.results().map((result) -> result.group()).collect(Collectors.toSet());
	}

	private String get(ConfigurableApplicationContext gateway, String port, String path) {
		URI uri = URI.create("http://localhost:" + gateway.getEnvironment().getProperty(port) + path);
		return this.client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
			.orTimeout(10, TimeUnit.SECONDS)
			.join()
			.body();
	}

	/** An edited policy can be rolled back. */
	private static void edit(ConfigurableApplicationContext gateway) {
		gateway.getBean(ControlPlane.class)
			.writePolicy("edited", Map.of("limits", Map.of("all", Map.of("by", List.of(), "quota", "1/s"))), null,
					new Author("olga", "test"))
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join();
	}

	/** With all that makes a meter of its own: a lease, a failure, events. */
	private static ConfigurableApplicationContext start(RedisServer redis) {
		return new SpringApplicationBuilder(RateLimitGatewayApplication.class).profiles("demo", "monitoring")
			.run("--server.port=0", "--management.server.port=0", "--spring.data.redis.host=" + redis.host(),
					"--spring.data.redis.port=" + redis.port());
	}

}
