package dev.ratelimit.admin;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;

import static org.assertj.core.api.Assertions.assertThat;

class PolicyContentTests {

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final PolicyContent content = new PolicyContent(this.reader);

	@Test
	void onlyFieldsThatDifferAreShown() {
		Policy before = policy("5/s").build();
		Policy after = policy("7/s").limit("per-ip", List.of(Dimension.IP), "1/s").build();
		assertThat(this.content.differing(before, after)).isEqualTo("{\"limits\":{\"all\":{\"quota\":[\"5/s\"]}}}");
		assertThat(this.content.differing(after, before))
			.isEqualTo("{\"limits\":{\"all\":{\"quota\":[\"7/s\"]},\"per-ip\":{\"by\":[\"ip\"],\"quota\":[\"1/s\"]}}}");
		assertThat(this.content.differing(null, after)).isEmpty();
		assertThat(this.content.differing(before, before)).isEqualTo("{}");
	}

	@Test
	void overridesAreNotShown() {
		Policy before = policy("5/s").build();
		Policy after = this.reader.policy("orders", 1,
				Map.of("limits", Map.of("all", Map.of("by", "tenant", "quota", "5/s")), "overrides",
						List.of(Map.of("when", Map.of("tenant", "acme"), "limits", Map.of("all", "9/s")))));
		assertThat(this.content.differing(after, before)).isEqualTo("{} and other overrides");
	}

	@Test
	void longContentEndsWithItsDigest() {
		String one = this.content.differing(large("5/s"), null);
		String other = this.content.differing(large("6/s"), null);
		assertThat(one).hasSizeLessThan(2_000).matches("\\{.*… sha256:[0-9a-f]{64}");
		assertThat(other.substring(0, 1_000)).isEqualTo(one.substring(0, 1_000));
		assertThat(other).isNotEqualTo(one);
	}

	private static Policy large(String last) {
		PolicyBuilder policy = policy(last);
		for (int i = 0; i < 200; i++) {
			policy.cost("/path-" + i, 5);
		}
		return policy.build();
	}

	private static PolicyBuilder policy(String quota) {
		return Policy.builder("orders").limit("all", List.of(Dimension.TENANT), quota);
	}

}
