package dev.ratelimit.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.yaml.snakeyaml.Yaml;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Settling;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey.Kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Documents say the same as the configuration, and slips in them are named.
 */
class PolicyDocumentsTests {

	private static final String FULL = """
			{"description": "Order API", "owner": "team-orders", "algorithm": "token-bucket", "enforcement": "leased",
			 "mode": "shadow", "on-failure": "deny", "degraded-floor": "20/s",
			 "degraded-ceiling": "5000/s", "on-missing-identity": "skip",
			 "timeout": "10ms", "costs": {"/orders/export/**": 10},
			 "limits": {"per-user": {"by": ["tenant", "user"], "quota": ["100/s burst 200", "3000/m"]},
			            "per-tenant": {"by": "tenant", "quota": "1000/s", "enforcement": "adaptive", "split": 4},
			            "all": {"by": [], "quota": "100000/s"}},
			 "tiers": {"pro": {"limits": {"per-tenant": ["5000/s"]}, "on-failure": "allow"}},
			 "overrides": [{"when": {"tenant": "acme"}, "limits": {"per-tenant": "20000/s"}}],
			 "rollout": {"percent": 10, "valid-from": "2026-01-01T00:00:00Z", "hold": "5m"},
			 "idempotency": {"header": "Idempotency-Key", "ttl": "1h", "max-replays": 5}}
			""";

	private final PolicyDocuments documents = new PolicyDocuments(new PolicyMapper(Set.of("account"), Set.of(), null));

	@Test
	void documentSaysAllThatTheConfigurationCan() {
		Policy policy = this.documents.policy("orders", 7, parse(FULL));
		assertThat(policy.id()).isEqualTo("orders");
		assertThat(policy.version()).isEqualTo(7);
		assertThat(policy.algorithm()).isEqualTo(Algorithm.TOKEN_BUCKET);
		assertThat(policy.settings().shadow()).isTrue();
		assertThat(policy.settings().costs()).isEqualTo(Map.of("/orders/export/**", 10L));
		assertThat(policy.settings().rollout().percent()).isEqualTo(10);
		assertThat(policy.settings().degradedCeiling()).isEqualTo(Quota.parse("5000/s"));
		assertThat(policy.limits()).hasSize(3);
		assertThat(policy.settings().overrides()).singleElement()
			.satisfies((override) -> assertThat(override.when()).isEqualTo(Map.of(Dimension.TENANT, "acme")));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { FULL, "{}", "{limits: {a: {by: 'tenant, user', quota: '5/s,9/m'}}, rollout: {stages: '1, 10'}}",
					"{onFailure: DENY, algorithm: slidingWindowLog, rollout: {hold: PT5S}, tiers: {}}" })
	void documentIsBoundAsBootBindsTheSameInTheConfiguration(String text) throws IOException {
		Map<String, Object> document = new Yaml().load(text);
		String configuration = "policy: " + text.replace("\"/orders/export/**\"", "\"[/orders/export/**]\"");
		List<PropertySource<?>> sources = new YamlPropertySourceLoader().load("test",
				new ByteArrayResource(configuration.getBytes(StandardCharsets.UTF_8)));
		assertThat(DocumentBinder.bind("policy", PolicyProperties.class, document))
			.isEqualTo(new Binder(ConfigurationPropertySources.from(sources)).bindOrCreate("policy",
					Bindable.of(PolicyProperties.class)));
	}

	@Test
	void whatIsWrittenIsReadAsTheSamePolicy() {
		Policy policy = this.documents.policy("orders", 7, parse(FULL));
		assertThat(this.documents.policy("orders", 7, this.documents.document(policy))).isEqualTo(policy);
	}

	@Test
	void defaultsAreNotWritten() {
		Policy policy = this.documents.policy("orders", 0,
				parse("{\"limits\": {\"per-user\": {\"by\": \"user\", \"quota\": \"5/s\"}}}"));
		assertThat(this.documents.document(policy)).containsOnlyKeys("algorithm", "limits");
	}

	@ParameterizedTest
	@MethodSource
	void slipIsNamedWithItsFieldAndTheFix(String field, String said, String json) {
		assertThatExceptionOfType(InvalidChangeException.class)
			.isThrownBy(() -> this.documents.policy("orders", 1, parse(json)))
			.satisfies((ex) -> {
				assertThat(ex.field()).isEqualTo(field);
				assertThat(ex.problem() + " " + ex.fix()).contains(said);
			});
	}

	static List<Arguments> slipIsNamedWithItsFieldAndTheFix() {
		String limits = "\"limits\": {\"per-user\": {\"by\": \"user\", \"quota\": \"5/s\"}}";
		return List.of(Arguments.of("policy.limits", "has no limit", "{}"),
				Arguments.of("policy.limit", "Use one of: description, owner", "{\"limit\": {}}"),
				Arguments.of("policy.limits.per-user.quotas", "Use one of: by, quota",
						"{\"limits\": {\"per-user\": {\"by\": \"user\", \"quotas\": \"5/s\"}}}"),
				Arguments.of("policy.limits.per-user.quota", "Set 'policy.limits.per-user.quota' to a quota",
						"{\"limits\": {\"per-user\": {\"by\": \"user\", \"quota\": \"0/s\"}}}"),
				Arguments.of("policy.limits.per-user.by", "'tenantt', which is not a known dimension",
						"{\"limits\": {\"per-user\": {\"by\": \"tenantt\", \"quota\": \"5/s\"}}}"),
				Arguments.of("policy.limits.per-user.split", "to a whole number",
						"{\"limits\": {\"per-user\": {\"by\": \"user\", \"quota\": \"5/s\", \"split\": \"x\"}}}"),
				Arguments.of("policy.algorithm", "one of: gcra, token-bucket",
						"{\"algorithm\": \"gcraa\", " + limits + "}"),
				Arguments.of("policy.timeout", "a duration such as 10ms", "{\"timeout\": \"soon\", " + limits + "}"),
				Arguments.of("policy.rollout.percent", "to a whole number",
						"{\"rollout\": {\"percent\": \"\"}, " + limits + "}"),
				Arguments.of("policy.rollout.stages[1]", "to a whole number",
						"{\"rollout\": {\"stages\": [1, \"x\"]}, " + limits + "}"),
				Arguments.of("policy.description", "is an object", "{\"description\": {}, " + limits + "}"),
				Arguments.of("policy.limits", "is not an object", "{\"limits\": []}"),
				Arguments.of("policy.owner", "is null", "{\"owner\": null, " + limits + "}"),
				Arguments.of("policy.costs", "no caller ever has more than 5",
						"{\"costs\": {\"/a\": 6}, " + limits + "}"),
				Arguments.of("policy.on-failur", "Did you mean 'on-failure'?",
						"{\"on-failur\": \"deny\", " + limits + "}"),
				Arguments.of("policy.cost.estimate", "no caller ever has more than 5",
						"{\"cost\": {\"estimate\": 6}, " + limits + "}"),
				Arguments.of("policy.cost", "or remove 'policy.cost'",
						"{\"cost\": {\"settle-json\": []}, " + limits + "}"),
				Arguments.of("policy.cost", "Estimate must be 1 to", "{\"cost\": {\"estimate\": 0}, " + limits + "}"),
				Arguments.of("policy.cost", "must be the name of a header",
						"{\"cost\": {\"settle-header\": \"X Y\"}, " + limits + "}"),
				Arguments.of("policy.cost", "names of fields joined by dots",
						"{\"cost\": {\"settle-json\": [\"a.b\", \"a..b\"]}, " + limits + "}"),
				Arguments.of("policy.cost", "statuses such as 404",
						"{\"cost\": {\"settle-status\": {\"2x\": 0}}, " + limits + "}"),
				Arguments.of("policy.cost", "0 to 90000000 permits but was -1",
						"{\"cost\": {\"settle-status\": {\"2xx\": -1}}, " + limits + "}"),
				Arguments.of("policy.cost.settle", "Use one of: estimate, settle-header",
						"{\"cost\": {\"settle\": 0}, " + limits + "}"),
				Arguments.of("policy.idempotency", "Max-replays must be 1 to 100 but was 0",
						"{\"idempotency\": {\"max-replays\": 0}, " + limits + "}"),
				Arguments.of("policy.idempotency", "Ttl must be 1s to 1d",
						"{\"idempotency\": {\"ttl\": \"2d\"}, " + limits + "}"),
				Arguments.of("policy.idempotency", "Header must be the name of a header",
						"{\"idempotency\": {\"header\": \"X Y\"}, " + limits + "}"),
				Arguments.of("policy.idempotency.ttl", "which has no unit",
						"{\"idempotency\": {\"ttl\": 600}, " + limits + "}"),
				Arguments.of("policy.idempotency.max-replay", "Did you mean 'max-replays'?",
						"{\"idempotency\": {\"max-replay\": 3}, " + limits + "}"),
				Arguments.of("policy.penalty", "no limit by user, api-key or ip",
						"{\"penalty\": {\"after\": 6}, \"limits\": {\"all\": {\"by\": [], \"quota\": \"5/s\"}}}"),
				Arguments.of("policy.penalty.ban-for", "which has no unit",
						"{\"penalty\": {\"ban-for\": 6}, " + limits + "}"),
				Arguments.of("policy.penalty.ban-afte", "Did you mean 'ban-after'?",
						"{\"penalty\": {\"ban-afte\": 6}, " + limits + "}"),
				Arguments.of("policy.penalty", "After must be 1 to",
						"{\"penalty\": {\"after\": 0}, \"limits\": {\"own\": {\"by\": \"ip\", \"quota\": \"5/s\"}}}"),
				Arguments.of("policy.penalty", "Max of 5s is shorter than the cool-down of 10s",
						"{\"penalty\": {\"max\": \"5s\"}, \"limits\": {\"own\": {\"by\": \"ip\", \"quota\": \"5/s\"}}}"),
				Arguments.of("policy.timeout", "which has no unit", "{\"timeout\": 10, " + limits + "}"),
				Arguments.of("policy.timeout", "to 1ms or more", "{\"timeout\": \"-5ms\", " + limits + "}"),
				Arguments.of("policy.timeout", "which has no unit", "{\"timeout\": 0, " + limits + "}"),
				Arguments.of("policy.timeout", "to 1ms or more", "{\"timeout\": \"0s\", " + limits + "}"),
				Arguments.of("policy.timeout", "to 1ms or more", "{\"timeout\": \"1ns\", " + limits + "}"),
				Arguments.of("policy.rollout.hold", "which has no unit",
						"{\"rollout\": {\"stages\": [1, 100], \"hold\": \"10\"}, " + limits + "}"),
				Arguments.of("policy.rollout", "at least 1s",
						"{\"rollout\": {\"stages\": [1, 100], \"hold\": \"10ms\"}, " + limits + "}"),
				Arguments.of("policy.on-failure", "'onFailure' and 'on-failure'",
						"{\"onFailure\": \"deny\", \"on-failure\": \"allow\", " + limits + "}"),
				Arguments.of("policy.rollout.percent", "'percent' and 'PERCENT'",
						"{\"rollout\": {\"percent\": 10, \"PERCENT\": 20}, " + limits + "}"),
				Arguments.of("policy.rollout.stages", "set 'policy.mode' to enforce",
						"{\"mode\": \"shadow\", \"rollout\": {\"stages\": [1, 100]}, " + limits + "}"));
	}

	@Test
	void addressOfAnOverrideIsComparedHoweverItIsWritten() {
		Policy policy = this.documents.policy("orders", 1,
				parse("{\"limits\": {\"per-user\": {\"by\": \"user\", \"quota\": \"5/s\"}}, \"overrides\": "
						+ "[{\"when\": {\"ip\": \"2001:DB8::7\"}, \"limits\": {\"per-user\": \"9/s\"}}]}"));
		Request caller = Request.of("orders")
			.with(Dimension.USER, "ann")
			.with(Dimension.IP, IpAddress.parse("2001:db8::7").toString());
		assertThat(PolicySet.of(policy).match(caller).specs().get(0).limit().quotas())
			.containsExactly(Quota.parse("9/s"));
	}

	@Test
	void costIsWrittenAsItIsRead() {
		Map<String, Object> document = parse("{\"algorithm\": \"gcra\", \"limits\": {\"all\": {\"by\": [], \"quota\": "
				+ "[\"500/s\"]}}, \"cost\": {\"estimate\": 500, \"settle-header\": \"X-Tokens-Used\", \"settle-json\": "
				+ "[\"usage.input\", \"usage.output\"], \"settle-status\": {\"404\": 1, \"5xx\": 0}}}");
		Policy policy = this.documents.policy("llm", 1, document);
		assertThat(policy.settings().settling()).isEqualTo(new Settling(500, "X-Tokens-Used",
				List.of("usage.input", "usage.output"), Map.of("404", 1L, "5xx", 0L)));
		assertThat(this.documents.policy("llm", 1, this.documents.document(policy))).isEqualTo(policy);
		Policy byStatus = this.documents.policy("login", 1, parse("{\"limits\": {\"all\": {\"by\": [], \"quota\": "
				+ "\"5/s\"}}, \"cost\": {\"settle-status\": {\"2xx\": 0}}}"));
		assertThat(byStatus.settings().settling()).isEqualTo(new Settling(1, null, List.of(), Map.of("2xx", 0L)));
	}

	@Test
	void overrideHasQuotas() {
		assertThat(this.documents.override(parse("{\"limits\": {\"per-tenant\": \"20/s\"}}")))
			.isEqualTo(Map.of("per-tenant", List.of(Quota.parse("20/s"))));
		assertThatExceptionOfType(InvalidChangeException.class)
			.isThrownBy(() -> this.documents.override(parse("{\"limits\": {\"per-tenant\": \"fast\"}}")))
			.satisfies((ex) -> assertThat(ex.field()).isEqualTo("limits.per-tenant"));
		assertThatExceptionOfType(InvalidChangeException.class).isThrownBy(() -> this.documents.override(Map.of()))
			.satisfies((ex) -> assertThat(ex.field()).isEqualTo("limits"));
	}

	@Test
	void entryThatWouldDenyEverybodyIsRefused() {
		for (Map<Dimension, String> entry : Arrays.<Map<Dimension, String>>asList(Map.of(Dimension.IP, "0.0.0.0/0"),
				Map.of(Dimension.TENANT, "*"), Map.of(Dimension.IP, "::/0", Dimension.TENANT, "*"))) {
			assertThatExceptionOfType(InvalidChangeException.class)
				.isThrownBy(() -> this.documents.requireEntry(Kind.DENY, entry))
				.withMessageContaining("refuse every request");
		}
		this.documents.requireEntry(Kind.DENY, Map.of(Dimension.IP, "10.0.0.0/8"));
		this.documents.requireEntry(Kind.DENY, Map.of(Dimension.TENANT, "*", Dimension.USER, "mallory"));
	}

	@Test
	void customDimensionIsKnown() {
		assertThat(this.documents.dimension("dimension", "account")).isEqualTo(new Dimension("account"));
	}

	private static Map<String, Object> parse(String json) {
		return JsonParserFactory.getJsonParser().parseMap(json);
	}

}
