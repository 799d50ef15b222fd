package dev.ratelimit.policy;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;

import static org.assertj.core.api.Assertions.assertThat;

class ManyRecordsTests {

	private static final int MANY = 100_000;

	private static final Policy ORDERS = Policy.builder("orders")
		.limit("per-tenant", List.of(Dimension.TENANT), "100/s")
		.build();

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "::1");

	private final CallerRecords records = new CallerRecords();

	@Test
	void eachOfAHundredThousandOfEachKindIsFound() {
		PolicySet policies = CallerRecordsTests.policies(this.records, ORDERS);
		fill();
		for (int i = 0; i < MANY; i += 1_111) {
			Match match = policies.match(ACME.with(Dimension.TENANT, "t" + i));
			assertThat(match).isNotNull();
			assertThat(match.specs().get(0).limit().quotas()).containsExactly(Quota.parse((i + 1) + "/s"));
			assertThat(this.records.tier(ACME.with(Dimension.TENANT, "t" + i))).isEqualTo("tier-" + i);
			assertThat(policies.denies(ACME.with(Dimension.USER, "u" + i))).isTrue();
			assertThat(policies.denies(ACME.with(Dimension.IP, ip(i)))).isTrue();
			assertThat(policies.denies(ACME.with(Dimension.API_KEY, "sk_" + i + "_1"))).isTrue();
			assertThat(policies.denies(ACME.with(Dimension.API_KEY, "sk_" + i))).isFalse();
			assertThat(policies.allows(ACME.with(Dimension.TENANT, "x").with(Dimension.USER, "v" + i))).isTrue();
		}
		assertThat(policies.denies(ACME)).isFalse();
		assertThat(policies.allows(ACME)).isFalse();
		assertThat(this.records.size()).isEqualTo(6 * MANY);
	}

	@Test
	void requestWithoutRecordsAllocatesNothing() {
		PolicySet policies = CallerRecordsTests.policies(this.records, ORDERS);
		assertThat(allocatedBy(policies::match)).isLessThan(1);
		assertThat(allocatedBy(policies::allows)).isLessThan(1);
		assertThat(allocatedBy(policies::denies)).isLessThan(1);
		assertThat(allocatedBy(policies::trial)).isLessThan(1);
	}

	@Test
	void overridesAndTiersOfOthersMakeARequestAllocateNothing() {
		PolicySet policies = CallerRecordsTests.policies(this.records, ORDERS);
		this.records.putOverride("orders", Dimension.TENANT, "other", Map.of("per-tenant", List.of(Quota.parse("1/s"))),
				1);
		this.records.putTier(Dimension.TENANT, "other", "pro", 2);
		assertThat(allocatedBy(policies::match)).isLessThan(1);
	}

	@Test
	void choiceOfAVersionAllocatesNothing() {
		Policy next = ORDERS.with(Rollout.COMPLETE.withPercent(50));
		PolicySet policies = CallerRecordsTests.policies(this.records, ORDERS).mutate().put(next, ORDERS).build();
		assertThat(allocatedBy(policies::match)).isLessThan(1);
	}

	@Test
	void recordsChangeWhileRequestsAreDecided() {
		PolicySet policies = CallerRecordsTests.policies(this.records, ORDERS);
		this.records.addDenied(Map.of(Dimension.USER, "always"));
		AtomicBoolean done = new AtomicBoolean();
		CompletableFuture<Integer> reader = CompletableFuture.supplyAsync(() -> {
			int missed = 0;
			while (!done.get()) {
				missed += policies.denies(ACME.with(Dimension.USER, "always")) ? 0 : 1;
				missed += (policies.match(ACME) != null) ? 0 : 1;
			}
			return missed;
		});
		for (int i = 0; i < 10_000; i++) {
			this.records.addDenied(Map.of(Dimension.USER, "u" + i));
			this.records.putOverride("orders", Dimension.TENANT, "acme",
					Map.of("per-tenant", List.of(Quota.parse((i + 1) + "/s"))), i);
			this.records.removeOverride("orders", Dimension.TENANT, "acme");
			this.records.removeDenied(Map.of(Dimension.USER, "u" + i));
		}
		done.set(true);
		assertThat(reader.join()).isZero();
	}

	private void fill() {
		for (int i = 0; i < MANY; i++) {
			this.records.putOverride("orders", Dimension.TENANT, "t" + i,
					Map.of("per-tenant", List.of(Quota.parse((i + 1) + "/s"))), i);
			this.records.putTier(Dimension.TENANT, "t" + i, "tier-" + i, i);
			this.records.addDenied(Map.of(Dimension.USER, "u" + i));
			this.records.addDenied(Map.of(Dimension.IP, ip(i) + ((i % 2 == 0) ? "" : "/32")));
			this.records.addAllowed(Map.of(Dimension.TENANT, "x", Dimension.USER, "v" + i));
			this.records.addDenied(Map.of(Dimension.API_KEY, "sk_" + i + "_*"));
		}
	}

	private static String ip(int i) {
		return "10." + i / 65_536 + "." + i / 256 % 256 + "." + i % 256;
	}

	/**
	 * In bytes for each request. The least of a few rounds: what a request allocates is
	 * in all of them, what the JVM allocates on this thread while it loads or compiles is
	 * not.
	 */
	private static double allocatedBy(Consumer<Request> use) {
		return IntStream.range(0, 5).mapToDouble((round) -> allocatedInARound(use)).min().orElseThrow();
	}

	private static double allocatedInARound(Consumer<Request> use) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		long before = threads.getCurrentThreadAllocatedBytes();
		for (int i = 0; i < 20_000; i++) {
			use.accept(ACME);
		}
		return (threads.getCurrentThreadAllocatedBytes() - before) / 20_000.0;
	}

}
