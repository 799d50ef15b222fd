package dev.ratelimit.urls;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AuditListener;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.web.UrlLimit;
import dev.ratelimit.web.UrlLimits;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limits by URL in applications that need settings of their own.
 */
@ExtendWith(OutputCaptureExtension.class)
class UrlApplicationTests {

	private static final String[] ALL = { "ratelimit.policies.all.limits.all.by=",
			"ratelimit.policies.all.limits.all.quota=2/h", "ratelimit.urls.all.path=/**",
			"ratelimit.urls.all.policy=all" };

	@ParameterizedTest
	@EnumSource
	void managementPathsAreNotLimitedAndTheEndpointShowsTheEntries(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(Everybody.class),
				join(ALL, "ratelimit.urls.all.methods=GET", "ratelimit.urls.all.cost=1"))) {
			assertThat(UrlStack.json(get(context, "/actuator/ratelimit", "Authorization", "Bearer ann")))
				.containsEntry("urls", Map.of("all", Map.of("path", "/**", "methods", List.of("GET", "HEAD"), "policy",
						"all", "cost", 1, "beforeAuthentication", false)));
			for (int i = 0; i < 3; i++) {
				assertThat(get(context, "/actuator/health").statusCode()).isEqualTo(200);
				assertThat(get(context, "/actuator").statusCode()).isEqualTo(200);
			}
			assertThat(get(context, "/api").headers().firstValue("X-RateLimit-Remaining")).hasValue("1");
			// A path of the application that one server may read as the actuator's.
			assertThat(get(context, "/actuator/health/..%2f..%2fapi").headers()
				.firstValue("X-RateLimit-Remaining")
				.isPresent() || get(context, "/actuator/health/..%2f..%2fapi").statusCode() == 400).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void managementPortIsNotLimited(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(), join(ALL, "management.server.port=0"))) {
			String management = context.getEnvironment().getProperty("local.management.port");
			for (int i = 0; i < 3; i++) {
				assertThat(UrlStack.send(management, "GET", "/actuator/health").statusCode()).isEqualTo(200);
			}
			assertThat(get(context, "/actuator/health").headers().firstValue("X-RateLimit-Remaining")).hasValue("1");
		}
	}

	@Test
	void errorAsyncAndForwardDispatchesAreNotCountedAgain() {
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(Async.class, Forward.class),
				join(ALL, "ratelimit.policies.all.limits.all.quota=3/h"))) {
			HttpResponse<String> forwarded = get(context, "/forward");
			assertThat(forwarded.body()).isEqualTo("hello");
			assertThat(forwarded.headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
			assertThat(get(context, "/fails").headers().firstValue("X-RateLimit-Remaining")).hasValue("1");
			assertThat(get(context, "/async").headers().firstValue("X-RateLimit-Remaining")).hasValue("0");
			assertThat(get(context, "/error").statusCode()).isNotEqualTo(429);
			assertThat(get(context, "/api").statusCode()).isEqualTo(429);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void pathMatchesWithAndWithoutTheContextPath(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(), "server.servlet.context-path=/app",
				"spring.webflux.base-path=/app", "ratelimit.policies.all.limits.all.by=",
				"ratelimit.policies.all.limits.all.quota=9/h", "ratelimit.urls.within.path=/api/**",
				"ratelimit.urls.within.policy=all", "ratelimit.urls.whole.path=/app/public/**",
				"ratelimit.urls.whole.policy=all")) {
			assertThat(get(context, "/app/api/x").headers().firstValue("X-RateLimit-Remaining")).hasValue("8");
			assertThat(get(context, "/app/public/x").headers().firstValue("X-RateLimit-Remaining")).hasValue("7");
			assertThat(get(context, "/app/both/x").headers().firstValue("X-RateLimit-Remaining")).isEmpty();
			for (int i = 0; i < 3; i++) {
				assertThat(get(context, "/app/actuator/health").headers().firstValue("X-RateLimit-Remaining"))
					.isEmpty();
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void entriesFollowTheConfiguration(UrlStack stack, CapturedOutput output) {
		Map<String, Object> changing = new HashMap<>(Map.of("ratelimit.urls.a.path", "/api/a",
				"ratelimit.urls.a.policy", "user", "ratelimit.policies.user.limits.per-user.by", "user"));
		try (ConfigurableApplicationContext context = stack.start(List.of(),
				"ratelimit.policies.user.limits.per-user.by=user",
				"ratelimit.policies.user.limits.per-user.quota=100/h")) {
			context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("changing", changing));
			refresh(context);
			assertThat(limited(context, "/api/a", "/api/b")).containsExactly(true, false);
			changing.put("ratelimit.urls.b.path", "/api/b");
			changing.put("ratelimit.urls.b.policy", "user");
			refresh(context);
			assertThat(limited(context, "/api/a", "/api/b")).containsExactly(true, true);
			// A mistake keeps the last valid entry.
			changing.put("ratelimit.urls.b.policy", "usr");
			changing.put("ratelimit.urls.a.path", "/api/{x");
			refresh(context);
			assertThat(limited(context, "/api/a", "/api/b")).containsExactly(true, true);
			assertThat(output).contains("URL entry 'b' is not reloaded; the previous one stays in force.")
				.contains("Did you mean 'user'?")
				.contains("URL entry 'a' is not reloaded");
			changing.put("ratelimit.urls.a.path", "/api/a");
			changing.put("ratelimit.urls.a.before-authentication", "true");
			refresh(context);
			assertThat(output).contains("which is not known before authentication");
			// Only together with its policy can the entry change, in one refresh.
			changing.put("ratelimit.policies.user.limits.per-user.by", "ip");
			changing.remove("ratelimit.urls.b.path");
			changing.remove("ratelimit.urls.b.policy");
			refresh(context);
			assertThat(limited(context, "/api/a", "/api/b")).containsExactly(true, false);
			assertThat(context.getBean(UrlLimits.class).all()).singleElement().matches(UrlLimit::beforeAuthentication);
			// The policy of such an entry keeps its dimensions, and a misspelt name all
			// entries.
			changing.put("ratelimit.policies.user.limits.per-user.by", "tenant");
			changing.put("ratelimit.url.a.path", "/api/b");
			refresh(context);
			assertThat(limited(context, "/api/a", "/api/b")).containsExactly(true, false);
			assertThat(output).contains("Policy 'user' of the configuration is not reloaded")
				.contains("'ratelimit.urls' is not reloaded; the previous entries stay in force.");
		}
	}

	@Test
	void reloadOfAnEntryIsAuditedWithTheEntryBeforeAndAfter() {
		Map<String, Object> changing = new HashMap<>(
				Map.of("ratelimit.urls.a.path", "/api/a", "ratelimit.urls.a.policy", "user"));
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(Audited.class),
				"ratelimit.policies.user.limits.per-user.by=user",
				"ratelimit.policies.user.limits.per-user.quota=100/h")) {
			context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("changing", changing));
			refresh(context);
			changing.put("ratelimit.urls.a.path", "/api/b");
			refresh(context);
			changing.put("ratelimit.urls.a.policy", "usr");
			refresh(context);
			changing.clear();
			changing.put("ratelimit.urls.b.path", "/**");
			changing.put("ratelimit.urls.b.policy", "user");
			refresh(context);
			List<AuditRecord> entries = context.getBean(Audited.class).entries;
			assertThat(entries).extracting(AuditRecord::action).containsOnly("config-reload");
			assertThat(entries).extracting((entry) -> entry.target() + " " + entry.outcome())
				.containsExactly("url a done", "url a done", "url a done", "url b done");
			assertThat(entries.get(0).before()).isEmpty();
			assertThat(entries.get(1).before()).contains("/api/a").isEqualTo(entries.get(0).after());
			assertThat(entries.get(1).after()).contains("/api/b", "\"policy\":\"user\"");
			assertThat(entries.get(2).after()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void callerOfTheDenyListIsRefusedWhereAnEntryBeforeAuthenticationHasPaid(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(), "ratelimit.deny[0].user=ann",
				"ratelimit.policies.address.limits.per-ip.by=ip", "ratelimit.policies.address.limits.per-ip.quota=9/h",
				"ratelimit.urls.early.path=/api/**", "ratelimit.urls.early.policy=address",
				"ratelimit.urls.early.before-authentication=true", "ratelimit.urls.later.path=/api/**",
				"ratelimit.urls.later.policy=address", "ratelimit.policies.handled.limits.per-user.by=ip",
				"ratelimit.urls.handled.path=/handled/**", "ratelimit.urls.handled.policy=handled",
				"ratelimit.urls.handled.cost=3", "ratelimit.urls.handled.before-authentication=true")) {
			assertThat(get(context, "/api/a", "Authorization", "Bearer ann").statusCode()).isEqualTo(403);
			assertThat(get(context, "/handled/a", "Authorization", "Bearer ann").statusCode()).isEqualTo(403);
			// Others pass and are charged once.
			HttpResponse<String> entry = get(context, "/api/a", "Authorization", "Bearer bob");
			assertThat(entry.statusCode()).isEqualTo(200);
			assertThat(entry.headers().allValues("X-RateLimit-Remaining")).containsExactly("7");
			HttpResponse<String> handled = get(context, "/handled/a", "Authorization", "Bearer bob");
			assertThat(handled.statusCode()).isEqualTo(200);
			assertThat(handled.headers().allValues("X-RateLimit-Remaining")).containsExactly("4");
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void refusalInsideTheHandlerGivesNothingBack(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(), "ratelimit.policies.wide.limits.all.by=",
				"ratelimit.policies.wide.limits.all.quota=9/h", "ratelimit.urls.wide.path=/**",
				"ratelimit.urls.wide.policy=wide", "ratelimit.policies.sms.limits.per-user.by=",
				"ratelimit.policies.sms.limits.per-user.quota=1/h",
				"ratelimit.policies.handled.limits.per-user.quota=2/h")) {
			HttpResponse<String> inside = get(context, "/sms", "Authorization", "Bearer ann");
			assertThat(inside.statusCode()).isEqualTo(429);
			assertThat(inside.headers().allValues("X-RateLimit-Policy")).containsExactly("sms");
			assertThat(remaining(context, "wide")).isEqualTo(8);
			// A refused handler has done nothing.
			assertThat(get(context, "/handled/a", "Authorization", "Bearer ann").statusCode()).isEqualTo(429);
			assertThat(remaining(context, "wide")).isEqualTo(8);
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusalOfARequestWithAMalformedOriginIsWrittenWithoutCorsHeaders(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(), join(ALL,
				"ratelimit.policies.all.limits.all.quota=1/h", "ratelimit.urls.all.before-authentication=true"))) {
			assertThat(get(context, "/api").statusCode()).isEqualTo(200);
			HttpResponse<String> refused = get(context, "/api", "Origin", "http://[");
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(refused.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
			assertThat(UrlStack.json(refused)).containsEntry("url", "all");
		}
	}

	@Test
	void managementPathsBelowThePathOfTheServletAreNotLimited() {
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(),
				join(ALL, "spring.mvc.servlet.path=/app"))) {
			for (int i = 0; i < 3; i++) {
				assertThat(get(context, "/app/actuator/health").statusCode()).isEqualTo(200);
				assertThat(get(context, "/app/actuator").statusCode()).isEqualTo(200);
				assertThat(get(context, "/app/error").statusCode()).isNotEqualTo(429);
			}
			assertThat(get(context, "/app/api").headers().firstValue("X-RateLimit-Remaining")).hasValue("1");
		}
	}

	@Test
	void pathMatchesWithAndWithoutThePathOfTheServlet() {
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(), "spring.mvc.servlet.path=/app",
				"ratelimit.policies.all.limits.all.by=", "ratelimit.policies.all.limits.all.quota=9/h",
				"ratelimit.urls.within.path=/api/**", "ratelimit.urls.within.policy=all",
				"ratelimit.urls.whole.path=/app/public/**", "ratelimit.urls.whole.policy=all",
				"spring.security.filter.order=-2147483648")) {
			assertThat(get(context, "/app/api/x").headers().firstValue("X-RateLimit-Remaining")).hasValue("8");
			assertThat(get(context, "/app/public/x").headers().firstValue("X-RateLimit-Remaining")).hasValue("7");
			assertThat(get(context, "/app/both/x").headers().firstValue("X-RateLimit-Remaining")).isEmpty();
		}
	}

	/** The first request is one of HTTP/1.1, which asks for the upgrade. */
	@Test
	void hostOfARequestOverHttp2IsItsAuthority() throws Exception {
		HttpClient http2 = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(), "server.http2.enabled=true",
				"ratelimit.dimensions.site.host=true", "ratelimit.policies.sites.limits.per-site.by=site",
				"ratelimit.policies.sites.limits.per-site.quota=1/h",
				"ratelimit.policies.sites.on-missing-identity=skip", "ratelimit.urls.sites.path=/api/**",
				"ratelimit.urls.sites.policy=sites")) {
			HttpRequest request = HttpRequest
				.newBuilder(URI
					.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/api"))
				.build();
			assertThat(http2.send(request, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(200);
			HttpResponse<String> refused = http2.send(request, HttpResponse.BodyHandlers.ofString());
			assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_2);
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(UrlStack.json(refused)).containsEntry("scope", "site");
		}
	}

	private static void refresh(ConfigurableApplicationContext context) {
		context.getBean(ContextRefresher.class).refresh();
	}

	private static List<Boolean> limited(ConfigurableApplicationContext context, String... paths) {
		List<Boolean> limited = new ArrayList<>();
		for (String path : paths) {
			limited.add(get(context, path).headers().firstValue("X-RateLimit-Policy").isPresent());
		}
		return limited;
	}

	private static long remaining(ConfigurableApplicationContext context, String policy) {
		return context.getBean(RateLimiter.class)
			.check(Request.of(policy).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining();
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path, String... headers) {
		return UrlStack.send(context, "GET", path, headers);
	}

	private static String[] join(String[] some, String... more) {
		List<String> all = new ArrayList<>(List.of(some));
		all.addAll(List.of(more));
		return all.toArray(String[]::new);
	}

	@RestController
	static class Async {

		@GetMapping("/async")
		Callable<String> later() {
			return () -> "hello";
		}

	}

	@Controller
	static class Forward {

		@GetMapping("/forward")
		String forward() {
			return "forward:/api/x";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Audited implements AuditListener {

		private final List<AuditRecord> entries = new CopyOnWriteArrayList<>();

		@Override
		public void recorded(AuditRecord entry) {
			this.entries.add(entry);
		}

	}

	/** Anybody may read the endpoint. */
	@Configuration(proxyBeanMethods = false)
	static class Everybody {

		@Bean
		AdminCheck everybody() {
			return AdminCheck.ANYBODY;
		}

	}

}
