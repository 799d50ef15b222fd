package dev.ratelimit.actuate;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.CapturedLog;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Policies and records through the endpoint, on the reactive stack and with a real store.
 */
@ExtendWith(RedisServers.class)
class PolicyWebFluxIntegrationTests {

	private static final String LIMITS = "{\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": \"77/h\"}}}";

	private final ReactiveWebApplicationContextRunner context = ReactiveEndpoint
		.runner(ReactiveSecurityAutoConfiguration.class)
		.withUserConfiguration(SwitchWebFluxTests.Security.class)
		.withPropertyValues("ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10/h",
				"ratelimit.policies.orders.tiers.pro.limits.per-tenant=50/h");

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	private WebTestClient client;

	private PolicyStore store;

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void policyIsWrittenLookedAtRolledBackAndDeleted(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": " + LIMITS + ", \"expect\": 0, \"reason\": \"launch\"}")
				.expectStatus()
				.isOk()
				.expectBody()
				.json("{\"id\": \"orders\", \"version\": 1, \"actor\": \"ann\", \"reason\": \"launch\"}");
			// The revision changes after what it brings is in force.
			Within.seconds(3).until(() -> read("").contains("\"revision\":1"));
			assertThat(read("policies/orders")).contains("77/h")
				.contains("\"history\"")
				.contains("\"policy\"")
				.contains("launch");
			assertThat(read("policies/orders?version=0")).contains("10/h");
			assertThat(read("policies/orders?version=1")).contains("77/h");
			assertThat(read("policies")).contains("\"version\":1");
			assertThat(read("")).contains("\"stale\":false").contains("\"revision\":1");
			write("policies/orders", "{\"rollback\": 1}").expectStatus().isOk();
			call(HttpMethod.DELETE, "policies/orders", "ann", null).expectStatus().isOk();
			Within.seconds(3).until(() -> read("policies/orders?version=3").contains("true"));
			Within.seconds(3).until(() -> read("policies/orders").contains("10/h"));
			assertThat(this.log.lines())
				.anyMatch((line) -> line.contains("policy-write") && line.contains("version 1"));
		});
	}

	@Test
	void trialAndRolloutAreShownWithTheirNumbers(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders",
					"{\"policy\": " + LIMITS.replace("{\"limits", "{\"mode\": \"shadow\", \"limits") + "}")
				.expectStatus()
				.isOk();
			await().until(() -> read("policies/orders").contains("\"onlyNewRefused\":0"));
			assertThat(read("policies/orders")).contains("\"previous\":0").doesNotContain("\"stage\"");
			String rollout = "\"rollout\": {\"stages\": [1, 10, 100], \"hold\": \"2s\"}, \"limits";
			write("policies/orders", "{\"policy\": " + LIMITS.replace("\"limits", rollout) + ", \"reason\": \"go\"}")
				.expectStatus()
				.isOk();
			await().until(() -> read("policies/orders").contains("\"stage\":\"1 of 3\""));
			assertThat(read("policies/orders")).contains("\"nextAt\"")
				.contains("\"newVersion\":{\"decisions\":0,\"refusals\":0}")
				.contains("\"previousVersion\"");
			assertThat(read("policies/orders")).contains("\"judgement\":\"windows-too-long\"")
				.doesNotContain("\"judged\":");
			// It collects for as long as it is held.
			String patient = rollout.replace("2s", "10m");
			write("policies/orders",
					"{\"policy\": " + LIMITS.replace("\"limits", patient).replace("77/h", "77/s") + "}")
				.expectStatus()
				.isOk();
			await().until(() -> read("policies/orders").contains("\"judgement\":\"collecting\""));
			assertThat(read("policies/orders"))
				.contains("\"judged\":{\"buckets\":0,\"decisions\":0,\"onlyNewRefused\":0,\"onlyOldRefused\":0}");
		});
	}

	@Test
	void slipsAreAnsweredWithTheFieldAndTheFix(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": {\"limits\": {\"a\": {\"by\": \"ip\", \"quota\": \"x\"}}}}")
				.expectStatus()
				.isBadRequest()
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo("policy.limits.a.quota")
				.jsonPath("$.fix")
				.isNotEmpty();
			write("policies/orders", "{\"polici\": {}}").expectStatus().isBadRequest();
			write("policies/orders", "{").expectStatus().isBadRequest();
			write("policies/Orders!", "{\"policy\": " + LIMITS + "}").expectStatus().isBadRequest();
			write("policies/orders", "{\"policy\": " + LIMITS + ", \"expect\": 4}").expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.newest")
				.isEqualTo(0);
			write("policies/orders", "{\"rollback\": 9}").expectStatus().isNotFound();
			write("policies/orders", "{\"policy\": \"" + "x".repeat(300_000) + "\"}").expectStatus().isEqualTo(413);
			call(HttpMethod.DELETE, "policies/orders", "ann", null).expectStatus().isNotFound();
			call(HttpMethod.GET, "policies/none", "ann", null).expectStatus().isNotFound();
			call(HttpMethod.PUT, "tiers/tenant/acme", "ann", "{\"tier\": 5, \"x\": 1}").expectStatus().isBadRequest();
			call(HttpMethod.PUT, "overrides/orders/tenantt/acme", "ann", "{\"limits\": {\"per-tenant\": \"9/h\"}}")
				.expectStatus()
				.isBadRequest();
			call(HttpMethod.PUT, "overrides/orders/tenant/acme", "ann", "{\"limits\": {\"other\": \"9/h\"}}")
				.expectStatus()
				.isBadRequest();
			call(HttpMethod.PUT, "lists/deny", "ann", "{\"entry\": {\"ip\": \"0.0.0.0/0\"}}").expectStatus()
				.isBadRequest();
			write("import", "{\"records\": []}").expectStatus().isBadRequest();
			write("store", "{\"action\": \"reseed\"}").expectStatus().isEqualTo(409);
			assertThat(read("")).contains("\"revision\":0");
		});
	}

	@Test
	void recordsAreWrittenShownAndDeleted(RedisServer redis) {
		run(redis, (client) -> {
			call(HttpMethod.PUT, "overrides/orders/tenant/acme", "ann",
					"{\"limits\": {\"per-tenant\": \"99/h\"}, \"reason\": \"deal\"}")
				.expectStatus()
				.isOk();
			call(HttpMethod.PUT, "tiers/tenant/acme", "ann", "{\"tier\": \"pro\"}").expectStatus().isOk();
			call(HttpMethod.PUT, "lists/deny", "ann", "{\"entry\": {\"ip\": \"203.0.113.0/24\"}}").expectStatus()
				.isOk();
			Within.seconds(3).until(() -> read("").contains("\"revision\":3"));
			assertThat(read("overrides/orders/tenant/acme")).contains("99/h").contains("deal");
			assertThat(read("tiers/tenant/acme")).contains("pro");
			assertThat(read("lists/deny")).contains("203.0.113.0/24");
			call(HttpMethod.DELETE, "lists/deny?ip=203.0.113.0/24", "ann", null).expectStatus().isOk();
			call(HttpMethod.DELETE, "overrides/orders/tenant/acme", "ann", null).expectStatus().isOk();
			call(HttpMethod.DELETE, "overrides/orders/tenant/acme", "ann", null).expectStatus().isNotFound();
			Within.seconds(3).until(() -> read("").contains("\"revision\":5"));
			assertThat(read("lists/deny")).doesNotContain("203.0.113");
			write("import",
					"{\"records\": [{\"kind\": \"tier\", \"dimension\": \"tenant\", \"value\": \"globex\", "
							+ "\"tier\": \"pro\"}, {\"kind\": \"allow\", \"entry\": {\"tenant\": \"internal\"}}]}")
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.records")
				.isEqualTo(2);
			assertThat(this.log.lines()).anyMatch((line) -> line.contains(
					"actor=\"ann\" target=\"override " + "orders/tenant/acme\" before=\"none\" after=\"version 1 {")
					&& line.contains("99/h"));
			call(HttpMethod.PUT, "lists/deny", "ann", "{\"entry\": {\"ip\": \"203.0.113.7\"}}").expectStatus().isOk();
			await().untilAsserted(() -> assertThat(this.log.lines())
				.anyMatch((line) -> line.contains("target=\"deny ip=") && !line.contains("203.0.113.0/24")));
			assertThat(this.log.lines()).noneMatch((line) -> line.contains("203.0.113.7"));
			assertThat(read("audit")).contains("\"target\":\"deny ip=").doesNotContain("203.0.113.7");
		});
	}

	@Test
	void importThatFailsHalfWaySaysHowManyRecordsItWrote(RedisServer redis) {
		run(this.context.withBean(KillingStore.class, () -> new KillingStore(redis)), redis, (client) -> {
			String records = IntStream.range(0, 60)
				.mapToObj((i) -> "{\"kind\": \"allow\", \"entry\": {\"tenant\": \"t" + i + "\"}}")
				.collect(Collectors.joining(", "));
			write("import", "{\"records\": [" + records + "]}").expectStatus().isEqualTo(503);
			await().untilAsserted(() -> assertThat(read("audit")).contains("\"action\":\"record-import\"")
				.contains("\"outcome\":\"failed\"")
				.contains("\"target\":\"sha256:")
				.contains("\"after\":\"at least 50 of 60 records written\""));
		});
	}

	@Test
	void whoLacksTheRoleChangesNothing(RedisServer redis) {
		run(redis, (client) -> {
			call(HttpMethod.POST, "policies/orders", "bob", "{\"policy\": " + LIMITS + "}").expectStatus()
				.isForbidden();
			call(HttpMethod.PUT, "tiers/tenant/acme", "bob", "{\"tier\": \"pro\"}").expectStatus().isForbidden();
			assertThat(read("")).contains("\"revision\":0");
		});
	}

	@Test
	void policyInTheStoreThatCannotBeMeantIsShownAndTheRestIsInForce(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isOk();
			await().atMost(Duration.ofSeconds(30)).until(() -> read("policies/orders").contains("\"version\":1"));
			this.store.write(
					List.of(new Edit(RecordIds.policy("orders"), "{\"policy\": {\"limits\": 5}}", null),
							new Edit(RecordIds.policy("extra"), "{\"policy\": " + LIMITS + "}", null)),
					Seen.NOTHING, "mallory", "")
				.toCompletableFuture()
				.join();
			await().atMost(Duration.ofSeconds(30)).until(() -> read("policies").contains("\"extra\""));
			assertThat(read("policies/orders")).contains("77/h")
				.contains("\"rejected\":{\"")
				.contains("'policy.limits' is not an object");
			assertThat(read("")).contains("'policy.limits' is not an object");
		});
	}

	@Test
	void storeThatWasFlushedIsShownAsAnIncidentAndReseededByOneCall(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isOk();
			await().atMost(Duration.ofSeconds(30)).until(() -> read("").contains("\"revision\":1"));
			redis.flush();
			await().atMost(Duration.ofSeconds(30))
				.until(() -> read("").contains("\"incident\":\"the store is empty\""));
			assertThat(read("")).contains("\"stale\":true");
			assertThat(read("policies/orders")).contains("77/h");
			write("policies/orders", "{\"rollback\": 0}").expectStatus().isEqualTo(503);
			write("store", "{\"action\": \"reseed\", \"confirm\": 1}").expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("Reseeding removes no records");
			write("store", "{\"action\": \"reseed\", \"reason\": \"flushed\"}").expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.note")
				.value((note) -> assertThat(note).asString().contains("audit entries that it lost are not restored"));
			assertThat(read("")).contains("\"stale\":false").doesNotContain("incident");
			assertThat(read("policies/orders")).contains("77/h").contains("\"version\":1,\"actor\":\"ann\"");
			write("policies/orders", "{\"rollback\": 0}").expectStatus().isOk();
		});
	}

	@Test
	void instanceThatIsBehindAnotherOneReseedsOnlyByForce(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isOk();
			await().atMost(Duration.ofSeconds(30)).until(() -> read("").contains("\"revision\":1"));
			redis.flush();
			await().atMost(Duration.ofSeconds(30))
				.until(() -> read("").contains("\"incident\":\"the store is empty\""));
			redis.cli("SET", "rl:{fleet}:revision:other", "99");
			redis.cli("ZADD", "rl:{fleet}:instances:local", Long.toString(System.currentTimeMillis() + 2_000), "other");
			write("store", "{\"action\": \"reseed\"}").expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("Instance other has read revision 99 of the store, this one only 1");
			assertThat(read("")).contains("\"incident\"");
			write("store", "{\"action\": \"reseed\", \"force\": true}").expectStatus().isOk();
			assertThat(read("")).doesNotContain("incident");
		});
	}

	@Test
	void acceptingShowsWhatItRemovesAndNeedsTheNumber(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isOk();
			call(HttpMethod.PUT, "overrides/orders/tenant/acme", "ann", "{\"limits\": {\"per-tenant\": \"9/h\"}}")
				.expectStatus()
				.isOk();
			await().atMost(Duration.ofSeconds(30)).until(() -> read("").contains("\"revision\":2"));
			redis.flush();
			await().atMost(Duration.ofSeconds(30))
				.until(() -> read("").contains("\"incident\":\"the store is empty\""));
			write("store", "{\"action\": \"accept\"}").expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("Accepting what the store has removes 1 of kind policy, 1 of kind override")
				.jsonPath("$.fix")
				.isEqualTo("To go on, send the call again with \"confirm\": 2.");
			write("store", "{\"action\": \"accept\", \"confirm\": 1}").expectStatus().isEqualTo(409);
			assertThat(read("policies/orders")).contains("77/h");
			write("store", "{\"action\": \"accept\", \"confirm\": 2}").expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.removed")
				.isEqualTo(2);
			await().until(() -> read("policies/orders").contains("10/h"));
			await().untilAsserted(() -> assertThat(read("audit?limit=1")).contains("\"action\":\"store-recovery\"")
				.contains("\"target\":\"accept\"")
				.contains("\"before\":\"the store is empty\"")
				.contains("\"after\":\"none, 2 records removed\""));
			write("store", "{\"action\": \"reseed\", \"force\": true}").expectStatus().isEqualTo(409);
			await().untilAsserted(() -> assertThat(read("audit?limit=1")).contains("\"target\":\"reseed, forced\"")
				.contains("\"after\":\"none\""));
		});
	}

	@Test
	void limitsInForceAreShownWhileTheNewestVersionIsNotForEverybody(RedisServer redis) {
		run(redis, (client) -> {
			write("policies/orders",
					"{\"policy\": " + LIMITS.replace("{\"limits", "{\"mode\": \"shadow\", \"limits") + "}")
				.expectStatus()
				.isOk();
			await().until(() -> read("policies/orders").contains("\"inForce\""));
			call(HttpMethod.GET, "policies/orders", "ann", null).expectBody()
				.jsonPath("$.inForce.length()")
				.isEqualTo(1)
				.jsonPath("$.inForce[0].version")
				.isEqualTo(0)
				.jsonPath("$.inForce[0].percent")
				.isEqualTo(100)
				.jsonPath("$.inForce[0].policy.limits.per-tenant.quota[0]")
				.isEqualTo("10/h");
			write("policies/orders",
					"{\"policy\": " + LIMITS.replace("{\"limits", "{\"rollout\": {\"percent\": 25}, \"limits") + "}")
				.expectStatus()
				.isOk();
			await().until(() -> read("policies/orders").contains("\"percent\":75"));
			call(HttpMethod.GET, "policies/orders", "ann", null).expectBody()
				.jsonPath("$.inForce[0].version")
				.isEqualTo(2)
				.jsonPath("$.inForce[0].percent")
				.isEqualTo(25)
				.jsonPath("$.inForce[1].version")
				.isEqualTo(0);
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isOk();
			await().until(() -> !read("policies/orders").contains("\"inForce\""));
		});
	}

	@Test
	void versionThatWasAStageIsBroughtBackForEverybodyOrInStages(RedisServer redis) {
		run(redis, (client) -> {
			String rollout = "\"rollout\": {\"stages\": [1, 10, 100], \"hold\": \"10m\"}, \"limits";
			write("policies/orders", "{\"policy\": " + LIMITS.replace("\"limits", rollout) + "}").expectStatus().isOk();
			write("policies/orders", "{\"policy\": " + LIMITS.replace("77/h", "78/h") + "}").expectStatus().isOk();
			write("policies/orders", "{\"rollback\": 1}").expectStatus()
				.isBadRequest()
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo("rollout")
				.jsonPath("$.detail")
				.isEqualTo("This version was a rollout stage for 1 % of the callers.");
			write("policies/orders", "{\"rollback\": 1, \"rollout\": \"everybody\"}").expectStatus().isOk();
			assertThat(read("policies/orders?version=3")).contains("77/h").doesNotContain("stages");
			write("policies/orders", "{\"rollback\": 1, \"rollout\": \"stages\"}").expectStatus().isOk();
			assertThat(read("policies/orders?version=4")).contains("\"percent\":1,\"stages\":[1,10,100]");
		});
	}

	@Test
	void storeThatIsAwayIsAnswered503AndNothingChanges(RedisServer redis) {
		run(redis, (client) -> {
			redis.kill();
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isEqualTo(503);
			assertThat(read("policies/orders")).contains("10/h").contains("no history");
		});
	}

	@Test
	void withoutAStoreChangesAreAnswered503() {
		this.context.run((context) -> {
			this.client = WebTestClient.bindToApplicationContext(context).build();
			write("policies/orders", "{\"policy\": " + LIMITS + "}").expectStatus().isEqualTo(503);
			assertThat(read("policies")).contains("orders");
		});
	}

	private void run(RedisServer redis, Consumer<WebTestClient> test) {
		run(this.context, redis, test);
	}

	private void run(ReactiveWebApplicationContextRunner runner, RedisServer redis, Consumer<WebTestClient> test) {
		runner.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
			.run((context) -> {
				assertThat(context).hasNotFailed();
				this.store = context.getBean(PolicyStore.class);
				this.client = WebTestClient.bindToApplicationContext(context)
					.configureClient()
					.responseTimeout(Duration.ofSeconds(20))
					.build();
				test.accept(this.client);
			});
	}

	private String read(String path) {
		return String.valueOf(call(HttpMethod.GET, path, "ann", null).expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody());
	}

	private WebTestClient.ResponseSpec write(String path, String body) {
		return call(HttpMethod.POST, path, "ann", body);
	}

	private WebTestClient.ResponseSpec call(HttpMethod method, String path, String user, String body) {
		WebTestClient.RequestBodySpec request = this.client.method(method)
			.uri("/actuator/ratelimit" + (path.isEmpty() ? "" : "/" + path))
			.headers((headers) -> headers.setBasicAuth(user, "secret"));
		return (body != null) ? request.contentType(MediaType.APPLICATION_JSON).bodyValue(body).exchange()
				: request.exchange();
	}

	/** Ends Redis before the second write. */
	private static final class KillingStore implements BeanPostProcessor {

		private final RedisServer redis;

		private final AtomicInteger writes = new AtomicInteger();

		KillingStore(RedisServer redis) {
			this.redis = redis;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return (bean instanceof PolicyStore) ? Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { PolicyStore.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("write") && this.writes.incrementAndGet() == 2) {
							this.redis.kill();
						}
						return method.invoke(bean, arguments);
					}) : bean;
		}

	}

}
