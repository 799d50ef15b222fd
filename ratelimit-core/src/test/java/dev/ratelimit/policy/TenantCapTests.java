package dev.ratelimit.policy;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a tenant gives itself, next to what operators give it.
 */
class TenantCapTests {

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");

	private final PolicySet policies = PolicySet.of(Policy.builder("orders")
		.limit(Limit.of("per-tenant", List.of(Dimension.TENANT), "1000/s burst 2000", "100000/h"))
		.limit(Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "100/s"))
		.build());

	@Test
	void smallerNumbersOfEachWindowHold() {
		tighten("500/s burst 3000");
		assertThat(quotas(ACME)).containsExactly("500/s burst 2000", "100000/h");
	}

	@Test
	void otherTenantsAreNotTouched() {
		tighten("500/s");
		assertThat(quotas(ACME.with(Dimension.TENANT, "other"))).containsExactly("1000/s burst 2000", "100000/h");
	}

	@Test
	void tenantThatIsMerelyClaimedIsNotTightened() {
		tighten("500/s");
		assertThat(quotas(Request.of("orders").withUnverified(Dimension.TENANT, "acme"))).first()
			.isEqualTo("1000/s burst 2000");
	}

	@Test
	void nothingCanBeRaised() {
		tighten("5000/s burst 9000");
		assertThat(quotas(ACME)).containsExactly("1000/s burst 2000", "100000/h");
	}

	@Test
	void operatorsLowerNumberHoldsAtOnceAndTheirHigherOneWhenTheTenantLetsGo() {
		tighten("500/s");
		override("200/s");
		assertThat(quotas(ACME)).containsExactly("200/s");
		override("5000/s");
		assertThat(quotas(ACME)).containsExactly("500/s");
		this.policies.records().removeTightening("orders", "acme");
		assertThat(quotas(ACME)).containsExactly("5000/s");
	}

	@Test
	void limitsThatCountByMoreThanTheTenantStay() {
		this.policies.records().putTightening("orders", "acme", Map.of("per-user", List.of(Quota.parse("1/s"))));
		assertThat(this.policies.match(ACME).specs().get(1).limit().quotas()).containsExactly(Quota.parse("100/s"));
	}

	@Test
	void grantIsToldWithoutWhatTheTenantSays() {
		tighten("500/s");
		assertThat(this.policies.granted(ACME).specs().get(0).limit().quotas()).first()
			.hasToString("1000/s burst 2000");
		assertThat(this.policies.granted(Request.of("nosuch"))).isNull();
	}

	/** Else every request would throw its lease away. */
	@Test
	void countsTheSameWayForEveryRequest() {
		tighten("500/s");
		assertThat(this.policies.match(ACME).specs().get(0)).isSameAs(this.policies.match(ACME).specs().get(0));
	}

	private void tighten(String quota) {
		this.policies.records().putTightening("orders", "acme", Map.of("per-tenant", List.of(Quota.parse(quota))));
	}

	private void override(String quota) {
		this.policies.records()
			.putOverride("orders", Dimension.TENANT, "acme", Map.of("per-tenant", List.of(Quota.parse(quota))), 1);
	}

	private List<String> quotas(Request request) {
		return this.policies.match(request).specs().get(0).limit().quotas().stream().map(Quota::toString).toList();
	}

}
