package dev.ratelimit.actuate;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.WebStack;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Every call of the endpoint does on one stack what it does on the other.
 */
@ExtendWith(RedisServers.class)
class EndpointCallsIntegrationTests {

	private static final String ADMIN = "ann/ops/RATELIMIT_ADMIN";

	private static final String POLICY = "{\"policy\": {\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": \"%s\"}}}, \"reason\": \"why\"}";

	private static final String HOT = "hotkeys?policy=orders&limit=per-tenant&tenant=acme";

	private static final String KEY = "sk_live_4711";

	private static final String DIGEST = "sha256:60ccd9c50cc49a2cbb7523806aade1d93164580391590d96c07d21820e1237b2";

	private WebTestClient client;

	private ApplicationContext context;

	@ParameterizedTest
	@EnumSource
	void overviewTellsWhatIsInForce(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			read("", "{\"backend\": \"redis\", \"fleet\": 1, \"region\": \"local\", \"switch\": {\"on\": false}, "
					+ "\"stale\": false, \"revision\": 0, \"rejected\": [], "
					+ "\"policies\": {\"orders\": {\"version\": 0, \"onFailure\": \"allow\", \"mode\": \"enforce\"}}}");
			read("policies", "[{\"id\": \"orders\", \"version\": 0}]");
		});
	}

	@ParameterizedTest
	@EnumSource
	void policyIsWrittenLookedAtBroughtBackAndDeleted(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			done(HttpMethod.POST, "policies/orders", POLICY.formatted("77/h"), "{\"id\": \"orders\", \"version\": 1}");
			done(HttpMethod.POST, "policies/orders", POLICY.formatted("88/h"), "{\"version\": 2}");
			read("policies/orders",
					"{\"version\": 2, \"policy\": {\"limits\": {\"per-tenant\": {\"quota\": [\"88/h\"]}}}, "
							+ "\"history\": [{\"version\": 2, \"actor\": \"ann\", \"reason\": \"why\"}, {\"version\": 1}]}");
			read("policies/orders?version=1",
					"{\"version\": 1, \"policy\": {\"limits\": {\"per-tenant\": {\"quota\": \"77/h\"}}}}");
			read("policies/orders?version=0",
					"{\"version\": 0, \"policy\": {\"limits\": {\"per-tenant\": {\"quota\": [\"10/h\"]}}}}");
			done(HttpMethod.POST, "policies/orders", "{\"rollback\": 1, \"expect\": 2}", "{\"version\": 3}");
			read("policies/orders", "{\"limits\": {\"per-tenant\": {\"quota\": [\"77/h\"]}}}");
			call(HttpMethod.POST, "policies/orders", ADMIN, "{\"rollback\": 1, \"expect\": 2}").expectStatus()
				.isEqualTo(409)
				.expectBody()
				.json("{\"newest\": 3}");
			read("audit?limit=3",
					"{\"entries\": [{\"outcome\": \"invalid\", \"target\": \"policy orders\", \"before\": \"version 3\"}, "
							+ "{\"action\": \"policy-rollback\", \"target\": \"policy orders\", "
							+ "\"before\": \"version 2 {\\\"limits\\\":{\\\"per-tenant\\\":{\\\"quota\\\":[\\\"88/h\\\"]}}}\", "
							+ "\"after\": \"version 3 {\\\"limits\\\":{\\\"per-tenant\\\":{\\\"quota\\\":[\\\"77/h\\\"]}}}\"}, {}]}");
			done(HttpMethod.DELETE, "policies/orders?reason=over", null, "{\"version\": 4, \"deleted\": true}");
			read("policies/orders", "{\"version\": 0, \"limits\": {\"per-tenant\": {\"quota\": [\"10/h\"]}}}");
			call(HttpMethod.GET, "policies/nosuch", ADMIN, null).expectStatus().isNotFound();
		});
	}

	@ParameterizedTest
	@EnumSource
	void recordIsWrittenLookedAtAndDeleted(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			String override = "overrides/orders/tenant/acme";
			done(HttpMethod.PUT, override, "{\"limits\": {\"per-tenant\": \"99/h\"}, \"reason\": \"deal\"}",
					"{\"version\": 1}");
			read(override, "{\"limits\": {\"per-tenant\": \"99/h\"}, \"actor\": \"ann\", \"reason\": \"deal\"}");
			String tier = "tiers/tenant/acme";
			done(HttpMethod.PUT, tier, "{\"tier\": \"pro\"}", "{\"version\": 1}");
			read(tier, "{\"tier\": \"pro\"}");
			read("audit?limit=2",
					"{\"entries\": [{\"action\": \"record-put\", \"target\": \"tier tenant/acme\", \"before\": \"none\", "
							+ "\"after\": \"version 1 {\\\"tier\\\":\\\"pro\\\"}\"}, "
							+ "{\"target\": \"override orders/tenant/acme\", \"reason\": \"deal\", "
							+ "\"after\": \"version 1 {\\\"limits\\\":{\\\"per-tenant\\\":\\\"99/h\\\"}}\"}]}");
			for (String list : List.of("allow", "deny")) {
				done(HttpMethod.PUT, "lists/" + list, "{\"entry\": {\"tenant\": \"acme\"}}", "{\"version\": 1}");
				read("lists/" + list, "{\"entries\": [{\"entry\": {\"tenant\": \"acme\"}}]}");
				done(HttpMethod.DELETE, "lists/" + list + "?tenant=acme", null, "{\"deleted\": true}");
				read("lists/" + list, "{\"entries\": []}");
			}
			for (String record : List.of(override, tier)) {
				done(HttpMethod.DELETE, record + "?reason=over", null, "{\"version\": 2, \"deleted\": true}");
				await().untilAsserted(() -> call(HttpMethod.GET, record, ADMIN, null).expectStatus().isNotFound());
			}
			done(HttpMethod.POST, "import",
					"{\"records\": [{\"kind\": \"tier\", \"dimension\": \"tenant\", \"value\": \"globex\", \"tier\": \"pro\"}]}",
					"{\"records\": 1}");
			read("tiers/tenant/globex", "{\"tier\": \"pro\"}");
			call(HttpMethod.POST, "store", ADMIN, "{\"action\": \"reseed\"}").expectStatus().isEqualTo(409);
		});
	}

	@ParameterizedTest
	@EnumSource
	void verificationNamesTheFirstBrokenEntry(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			read("audit?verify=true", "{\"result\": \"intact\", \"entries\": 0}");
			for (String tenant : List.of("acme", "globex", "initech")) {
				done(HttpMethod.PUT, "tiers/tenant/" + tenant, "{\"tier\": \"pro\"}", "{\"version\": 1}");
			}
			read("audit?verify=true", "{\"result\": \"intact\", \"entries\": 3, \"unchained\": 0, "
					+ "\"start\": {\"number\": 1, \"actor\": \"ann\", \"trimmed\": false}}");
			read("audit?limit=1", "{\"entries\": [{\"number\": 3}]}");
			redis.cli("XADD", "rl:{policies}:audit", "9000000000000000-0", "action", "old", "actor", "older release");
			read("audit?verify=true", "{\"result\": \"unchained\", \"unchained\": 1, "
					+ "\"firstUnchained\": {\"action\": \"old\", \"actor\": \"older release\"}}");
			String second = redis.cli("XRANGE", "rl:{policies}:audit", "-", "+")
				.lines()
				.filter((line) -> line.matches("\\d{16}-0"))
				.toList()
				.get(1);
			redis.cli("XDEL", "rl:{policies}:audit", second);
			read("audit?verify=true", "{\"result\": \"broken\", \"broken\": {\"number\": 3, "
					+ "\"action\": \"record-put\", \"problem\": \"1 entry before it is missing.\"}}");
			call(HttpMethod.GET, "audit?verify=true&limit=2", ADMIN, null).expectStatus().isBadRequest();
			call(HttpMethod.GET, "audit?verify=true", "bob/ops/OTHER", null).expectStatus().isForbidden();
			redis.freeze();
			call(HttpMethod.GET, "audit?verify=true", ADMIN, null).expectStatus().isEqualTo(503);
			redis.thaw();
		});
	}

	@ParameterizedTest
	@EnumSource
	void importIsNamedByItsDigest(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			String page = "{\"records\": [{\"kind\": \"tier\", \"dimension\": \"tenant\", \"value\": \"globex\", \"tier\": "
					+ "\"pro\"}, {\"kind\": \"allow\", \"entry\": {\"tenant\": \"internal\"}}], \"reason\": \"all\"}";
			done(HttpMethod.POST, "import", page, "{\"records\": 2}");
			read("audit?limit=1", "{\"entries\": [{\"action\": \"record-import\", \"outcome\": \"done\", "
					+ "\"after\": \"2 of 2 records written\", \"reason\": \"all\"}]}");
			String digest = lastTarget();
			done(HttpMethod.POST, "import", page.replace("internal", "outer"), "{\"records\": 2}");
			await().untilAsserted(() -> assertThat(lastTarget()).isNotEqualTo(digest).matches("sha256:[0-9a-f]{64}"));
			done(HttpMethod.POST, "import", page, "{\"records\": 2}");
			await().untilAsserted(() -> assertThat(lastTarget()).isEqualTo(digest));
		});
	}

	private String lastTarget() {
		String trail = call(HttpMethod.GET, "audit?limit=1", ADMIN, null).expectBody(String.class)
			.returnResult()
			.getResponseBody();
		return trail.replaceAll("(?s).*\"target\":\"([^\"]*)\".*", "$1");
	}

	@ParameterizedTest
	@EnumSource
	void apiKeyIsShownByItsDigestAndFoundByKeyOrDigest(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			done(HttpMethod.PUT, "lists/deny", "{\"entry\": {\"api-key\": \"" + KEY + "\"}}",
					"{\"entry\": {\"api-key\": \"" + DIGEST + "\"}}");
			done(HttpMethod.PUT, "lists/deny", "{\"entry\": {\"api-key\": \"sk_old_*\"}}",
					"{\"entry\": {\"api-key\": \"sk_old_*\"}}");
			done(HttpMethod.PUT, "tiers/api-key/" + KEY, "{\"tier\": \"pro\"}", "{\"tier\": \"pro\"}");
			done(HttpMethod.PUT, "overrides/orders/api-key/" + KEY, "{\"limits\": {\"per-tenant\": \"99/h\"}}", "{}");
			done(HttpMethod.POST, "policies/other",
					"{\"policy\": {\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": \"7/h\"}}, "
							+ "\"overrides\": [{\"when\": {\"api-key\": \"" + KEY
							+ "\"}, \"limits\": {\"per-tenant\": \"8/h\"}}]}}",
					"{\"version\": 1}");
			read("lists/deny", "{\"entries\": [{\"entry\": {\"api-key\": \"" + DIGEST
					+ "\"}}, {\"entry\": {\"api-key\": \"sk_old_*\"}}]}");
			read("tiers/api-key/" + KEY, "{\"tier\": \"pro\"}");
			read("tiers/api-key/" + DIGEST, "{\"tier\": \"pro\"}");
			read("overrides/orders/api-key/" + DIGEST, "{\"limits\": {\"per-tenant\": \"99/h\"}}");
			String when = "{\"policy\": {\"overrides\": [{\"when\": {\"api-key\": \"" + DIGEST + "\"}}]}}";
			read("policies/other", when);
			read("policies/other?version=1", when);
			// A record is shown a moment before it is in force.
			Within.seconds(3).until(() -> policies().denies(caller(KEY)) && policies().denies(caller("sk_old_1")));
			Within.seconds(3).until(() -> quota(KEY) == 99);
			assertThat(policies().denies(caller(DIGEST))).isFalse();
			assertThat(quota(DIGEST)).isEqualTo(10);
			assertThat(stored(new RecordKey(RecordKey.Kind.DENY, "api-key=" + KEY))).isEmpty();
			assertThat(stored(RecordIds.policy("other")).get(0).body()).contains(DIGEST).doesNotContain(KEY);
			done(HttpMethod.DELETE, "lists/deny?api-key=" + KEY, null, "{\"deleted\": true}");
			Within.seconds(3).until(() -> !policies().denies(caller(KEY)));
		});
	}

	@ParameterizedTest
	@EnumSource
	void recordThatWasWrittenWithAKeyStillMatchesIsShownByItsDigestAndIsReplaced(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			this.context.getBean(PolicyStore.class)
				.write(List.of(new Edit(new RecordKey(RecordKey.Kind.DENY, "api-key=" + KEY), "{}", null),
						new Edit(new RecordKey(RecordKey.Kind.ALLOW, "api-key=" + KEY), "{}", null),
						new Edit(new RecordKey(RecordKey.Kind.OVERRIDE, "orders/api-key/" + KEY),
								"{\"limits\": {\"per-tenant\": \"77/h\"}}", null)),
						Seen.NOTHING, "old", "")
				.toCompletableFuture()
				.join();
			read("lists/deny", "{\"entries\": [{\"entry\": {\"api-key\": \"" + DIGEST + "\"}}]}");
			read("overrides/orders/api-key/" + DIGEST, "{\"limits\": {\"per-tenant\": \"77/h\"}}");
			// A record is shown a moment before it is in force.
			Within.seconds(3).until(() -> policies().denies(caller(KEY)) && policies().allows(caller(KEY)));
			done(HttpMethod.PUT, "overrides/orders/api-key/" + KEY,
					"{\"limits\": {\"per-tenant\": \"88/h\"}, \"expect\": 1}", "{\"version\": 1}");
			Within.seconds(3).until(() -> quota(KEY) == 88);
			done(HttpMethod.DELETE, "lists/allow?api-key=" + DIGEST, null, "{\"deleted\": true}");
			Within.seconds(3).until(() -> !policies().allows(caller(KEY)));
			done(HttpMethod.DELETE, "overrides/orders/api-key/" + DIGEST, null, "{\"deleted\": true}");
			Within.seconds(3).until(() -> quota(KEY) == 10);
		});
	}

	@ParameterizedTest
	@EnumSource
	void whatCannotBeMeantNamesTheFieldTheRecordAndTheFix(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			wrong(HttpMethod.POST, "policies/fresh",
					POLICY.formatted("7/h").replace("\"reason\"", "\"expect\": 3, \"reason\""), 409,
					"{\"fix\": \"Leave out 'expect', or send 0.\", \"newest\": 0}");
			wrong(HttpMethod.DELETE, "policies/orders?expect=x", null, 400, "{\"field\": \"expect\"}");
			wrong(HttpMethod.DELETE, "policies/orders?forse=true", null, 400, "{\"field\": \"forse\"}");
			wrong(HttpMethod.DELETE, "tiers/tenant/acme?expect=-1", null, 400, "{\"field\": \"expect\"}");
			wrong(HttpMethod.DELETE, "lists/deny?tenant=acme&expect=x", null, 400, "{\"field\": \"expect\"}");
			wrong(HttpMethod.PUT, "overrides/orders/ip/1.2.3.400", "{\"limits\": {\"per-tenant\": \"9/h\"}}", 400,
					"{\"field\": \"ip\"}");
			wrong(HttpMethod.PUT, "lists/deny", "{\"entry\": {\"ip\": \"1.2.3.400\"}}", 400,
					"""
							{"field": "entry", "detail": "The value of 'ip' is neither an IP address nor the first address of a \
							network and its prefix."}""");
			String good = "{\"kind\": \"deny\", \"entry\": {\"tenant\": \"acme\"}}";
			wrong(HttpMethod.POST, "import", "{\"records\": [" + good + ", {\"kind\": \"denny\"}]}", 400,
					"{\"field\": \"records[1].kind\"}");
			wrong(HttpMethod.POST, "import", "{\"records\": [" + good
					+ ", {\"kind\": \"tier\", \"dimension\": \"ip\", \"value\": \"x\", " + "\"tier\": \"pro\"}]}", 400,
					"{\"field\": \"records[1].ip\"}");
			wrong(HttpMethod.POST, "import", "{\"records\": [" + good + ", " + good + "]}", 400,
					"{\"field\": \"records[1]\", \"detail\": \"This is the same record as records[0]\"}");
			wrong(HttpMethod.POST, "policies/fresh",
					"{\"policy\": {\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": [\"5/100s\", \"9/699s\"]}}}}",
					400, "{\"status\": 400}");
			read("", "{\"revision\": 0}");
			done(HttpMethod.PUT, "overrides/orders/tenant/acme", "{\"limits\": {\"per-tenant\": \"9/100s\"}}", "{}");
			Request acme = Request.of("orders").with(Dimension.TENANT, "acme");
			await().until(() -> policies().match(acme).specs().get(0).limit().largestCost() == 9);
			wrong(HttpMethod.PUT, "overrides/orders/tenant/globex", "{\"limits\": {\"per-tenant\": \"9/699s\"}}", 400,
					"{\"field\": \"limits\"}");
			wrong(HttpMethod.POST, "policies/orders", POLICY.formatted("9/699s"), 400, "{\"field\": \"limits\"}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void pageWithWindowsThatOneCounterCannotKeepIsNotWritten(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			wrong(HttpMethod.POST, "import", page("9/100s", "9/30s", "9/699s"), 400,
					"{\"field\": \"records[2].limits\"}");
			wrong(HttpMethod.POST, "import", page(IntStream.rangeClosed(1, 10).mapToObj((i) -> "9/" + i + "d")), 400,
					"{\"field\": \"records[8].limits\"}");
			read("", "{\"revision\": 0}");
			done(HttpMethod.POST, "import", page("9/100s", "9/30s", "9/100s"), "{\"records\": 3}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void policyThatIsProbablyAMistakeIsWrittenWithAWarning(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			String tiers = "\"}}, \"tiers\": {\"pro\": {\"limits\": {\"per-tenant\": \"1000/m burst 100\"}}}}, \"reason\"";
			done(HttpMethod.POST, "policies/orders", POLICY.formatted("100/m").replace("\"}}}, \"reason\"", tiers),
					"{\"version\": 1, \"warnings\": [\"Tiers of limit 'per-tenant' of policy 'orders' need from 6s to 60s "
							+ "to fill up per 1m. Where callers of different tiers share a counter, those that fill up "
							+ "soon are refused after the others have used a small part; give all callers of a counter "
							+ "one tier, or count each tier by a limit of its own\"]}");
		});
	}

	private static String page(String... quotas) {
		return page(Stream.of(quotas));
	}

	/** An override of each quota, for a tenant of its own. */
	private static String page(Stream<String> quotas) {
		AtomicInteger tenant = new AtomicInteger();
		return quotas
			.map((quota) -> "{\"kind\": \"override\", \"policy\": \"orders\", \"dimension\": \"tenant\", "
					+ "\"value\": \"tenant-" + tenant.incrementAndGet() + "\", \"limits\": {\"per-tenant\": \"" + quota
					+ "\"}}")
			.collect(Collectors.joining(", ", "{\"records\": [", "]}"));
	}

	@ParameterizedTest
	@EnumSource
	void entryOfAListSaysTextsOnly(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			for (String value : List.of("[\"acme\", \"globex\"]", "null", "{\"a\": \"b\"}", "true", "\"\"")) {
				String entry = "{\"entry\": {\"tenant\": " + value + "}}";
				wrong(HttpMethod.PUT, "lists/deny", entry, 400, "{\"field\": \"entry.tenant\"}");
				wrong(HttpMethod.POST, "import",
						"{\"records\": [" + entry.replace("{\"entry\"", "{\"kind\": \"deny\", \"entry\"") + "]}", 400,
						"{\"field\": \"records[0].entry.tenant\"}");
			}
			read("", "{\"revision\": 0}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void digestThatIsNoneIsNotTakenForAKey(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			for (String digest : List.of("sha256:60ccd9", "SHA256:60ccd9", DIGEST + "0",
					DIGEST.replace("60c", "60x"))) {
				wrong(HttpMethod.PUT, "tiers/api-key/" + digest, "{\"tier\": \"pro\"}", 400,
						"{\"field\": \"api-key\"}");
				wrong(HttpMethod.PUT, "overrides/orders/api-key/" + digest, "{\"limits\": {\"per-tenant\": \"9/h\"}}",
						400, "{\"field\": \"api-key\"}");
				wrong(HttpMethod.PUT, "lists/deny", "{\"entry\": {\"api-key\": \"" + digest + "\"}}", 400,
						"{\"field\": \"entry.api-key\"}");
				wrong(HttpMethod.POST, "import",
						"{\"records\": [{\"kind\": \"tier\", \"dimension\": \"api-key\", \"value\": \"" + digest
								+ "\", \"tier\": \"pro\"}]}",
						400, "{\"field\": \"records[0].api-key\"}");
				wrong(HttpMethod.POST, "policies/orders", overriding("overrides", "api-key", digest), 400,
						"{\"field\": \"policy.overrides[0].when.api-key\"}");
			}
			read("", "{\"revision\": 0}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void overrideIsForOneAddress(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			for (String ip : List.of("300.1.1.1", "10.0.0.0/8", "10.0.0.*", "")) {
				wrong(HttpMethod.POST, "policies/orders", overriding("overrides", "ip", ip), 400,
						"{\"field\": \"policy.overrides[0].when.ip\"}");
			}
			read("", "{\"revision\": 0}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void apiKeyIsDigestedHoweverTheFieldOfOverridesIsSpelt(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			for (String field : List.of("over_rides", "over-rides", "OVERRIDES")) {
				done(HttpMethod.POST, "policies/other", overriding(field, "api-key", KEY), "{}");
				assertThat(stored(RecordIds.policy("other")).get(0).body()).contains(DIGEST).doesNotContain(KEY);
			}
		});
	}

	private static String overriding(String field, String dimension, String value) {
		return "{\"policy\": {\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": \"7/h\"}}, \"" + field
				+ "\": [{\"when\": {\"" + dimension + "\": \"" + value
				+ "\"}, \"limits\": {\"per-tenant\": \"8/h\"}}]}}";
	}

	private void wrong(HttpMethod method, String path, String body, int status, String expected) {
		call(method, path, ADMIN, body).expectStatus().isEqualTo(status).expectBody().json(expected);
	}

	private PolicySet policies() {
		return this.context.getBean(Policies.class).get();
	}

	private static Request caller(String key) {
		return Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.API_KEY, key);
	}

	private long quota(String key) {
		return policies().match(caller(key)).specs().get(0).limit().quotas().get(0).permits();
	}

	private List<RecordVersion> stored(RecordKey key) {
		return this.context.getBean(PolicyStore.class).history(key, 1).toCompletableFuture().join();
	}

	@ParameterizedTest
	@EnumSource
	void usageIsToldAndReset(WebStack stack, RedisServer redis) {
		stack.run(true, properties(redis), (context, client) -> {
			this.client = client;
			this.context = context;
			context.getBean(RateLimiter.class)
				.check(Request.of("orders").with(Dimension.TENANT, "acme").withCost(4))
				.toCompletableFuture()
				.orTimeout(10, TimeUnit.SECONDS)
				.join();
			String usage = "usage?policy=orders&tenant=acme";
			read(usage, "{\"policy\": \"orders\", \"limits\": [{\"quotas\": [{\"used\": 4, \"remaining\": 6}]}]}");
			done(HttpMethod.DELETE, usage, null, "{\"policy\": \"orders\", \"reset\": [\"per-tenant\"]}");
			read(usage, "{\"limits\": [{\"quotas\": [{\"used\": 0}]}]}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void counterIsMarkedHotAndUnmarked(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			done(HttpMethod.POST, "hotkeys",
					"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"for\": \"5m\"}", "{}");
			read("hotkeys", "[{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"hot\": true, \"marked\": true}]");
			done(HttpMethod.DELETE, HOT, null, "{}");
			read("hotkeys", "[]");
		});
	}

	@ParameterizedTest
	@EnumSource
	void switchIsTurnedOnAndOff(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			done(HttpMethod.POST, "switch", "{\"mode\": \"local\", \"for\": \"5m\", \"reason\": \"INC-1\"}",
					"{\"on\": true}");
			read("switch", "{\"on\": true, \"mode\": \"local\", \"actor\": \"ann\", \"reason\": \"INC-1\"}");
			done(HttpMethod.DELETE, "switch", null, "{\"on\": false}");
			read("switch", "{\"on\": false}");
		});
	}

	@ParameterizedTest
	@EnumSource
	void everyWriteNeedsTheRoleAndEveryAttemptIsInTheTrail(WebStack stack, RedisServer redis) {
		run(stack, redis, () -> {
			List<HttpCall> writes = List.of(new HttpCall(HttpMethod.POST, "policies/orders", POLICY.formatted("7/h")),
					new HttpCall(HttpMethod.DELETE, "policies/orders", null),
					new HttpCall(HttpMethod.PUT, "overrides/orders/tenant/acme",
							"{\"limits\": {\"per-tenant\": \"9/h\"}}"),
					new HttpCall(HttpMethod.DELETE, "overrides/orders/tenant/acme", null),
					new HttpCall(HttpMethod.PUT, "tiers/tenant/acme", "{\"tier\": \"pro\"}"),
					new HttpCall(HttpMethod.DELETE, "tiers/tenant/acme", null),
					new HttpCall(HttpMethod.PUT, "lists/deny", "{\"entry\": {\"tenant\": \"acme\"}}"),
					new HttpCall(HttpMethod.DELETE, "lists/deny?tenant=acme", null),
					new HttpCall(HttpMethod.POST, "import", "{\"records\": []}"),
					new HttpCall(HttpMethod.POST, "store", "{\"action\": \"accept\"}"),
					new HttpCall(HttpMethod.DELETE, "usage?policy=orders&tenant=acme", null),
					new HttpCall(HttpMethod.POST, "hotkeys",
							"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\"}"),
					new HttpCall(HttpMethod.DELETE, HOT, null),
					new HttpCall(HttpMethod.POST, "switch", "{\"mode\": \"allow\"}"),
					new HttpCall(HttpMethod.DELETE, "switch", null));
			writes.forEach((write) -> call(write.method(), write.path(), "bob/ops/OTHER", write.body()).expectStatus()
				.isForbidden()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON));
			read("", "{\"revision\": 0, \"switch\": {\"on\": false}}");
			read("hotkeys", "[]");
			String refused = "{\"outcome\": \"refused\", \"actor\": \"bob\"}";
			read("audit?limit=" + (writes.size() + 1), "{\"source\": \"store\", \"entries\": ["
					+ String.join(", ", Stream.generate(() -> refused).limit(writes.size()).toList()) + "]}");
		});
	}

	private void run(WebStack stack, RedisServer redis, Runnable calls) {
		stack.run(true, properties(redis), (context, client) -> {
			this.client = client;
			this.context = context;
			calls.run();
		});
	}

	private static String[] properties(RedisServer redis) {
		return new String[] { "spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
				"ratelimit.redis.timeout=2s", "ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10/h",
				"ratelimit.policies.orders.tiers.pro.limits.per-tenant=50/h" };
	}

	/** What was written is to be read within a second. */
	private void read(String path, String expected) {
		await().untilAsserted(() -> call(HttpMethod.GET, path, "vic/ops/RATELIMIT_VIEWER", null).expectStatus()
			.isOk()
			.expectBody()
			.json(expected));
	}

	private void done(HttpMethod method, String path, String body, String expected) {
		call(method, path, ADMIN, body).expectStatus().isOk().expectBody().json(expected);
	}

	private WebTestClient.ResponseSpec call(HttpMethod method, String path, String token, String body) {
		WebTestClient.RequestBodySpec request = this.client.method(method)
			.uri("/actuator/ratelimit" + (path.isEmpty() ? "" : "/" + path))
			.headers((headers) -> headers.setBearerAuth(token));
		return (body != null) ? request.contentType(MediaType.APPLICATION_JSON).bodyValue(body).exchange()
				: request.exchange();
	}

	private record HttpCall(HttpMethod method, String path, String body) {
	}

}
