package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is above its limit gets 80 % of the new one in the five seconds after a change,
 * which instances learn of one after the other. Time is what the test lets pass.
 */
@ExtendWith(RedisServers.class)
class ChangedLimitAccuracyIntegrationTests {

	private static final int INSTANCES = 4;

	/** Of each instance, in a hundredth of a second: four times the larger limit. */
	private static final int ASKED = 8;

	private static final long STEP_MICROS = 10_000;

	private static final int SECOND = 100;

	/** The last instance has a change 450 ms after the first. */
	private static final int STEPS_BETWEEN = 15;

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	private final List<AtomicReference<PolicySet>> policies = new ArrayList<>();

	private final List<PolicyRateLimiter> fleet = new ArrayList<>();

	@ParameterizedTest
	@CsvSource({ "STRICT, 400, 800", "STRICT, 800, 400", "LEASED, 400, 800", "LEASED, 800, 400" })
	void callerAboveItsLimitGetsMostOfTheNewOneAtOnce(Enforcement enforcement, long before, long after) {
		for (Algorithm algorithm : Algorithm.values()) {
			start(policy(algorithm, enforcement, before, 0));
			run(2 * SECOND);
			PolicySet changed = PolicySet.of(policy(algorithm, enforcement, after, 1));
			long admitted = 0;
			for (int instance = 0; instance < INSTANCES; instance++) {
				this.policies.get(instance).set(changed);
				admitted += run(STEPS_BETWEEN);
			}
			admitted += run(5 * SECOND - INSTANCES * STEPS_BETWEEN);
			System.out.printf("  %s, %s, %d/s to %d/s: %d %% in five seconds%n", algorithm, enforcement, before, after,
					admitted * 100 / (5 * after));
			assertThat(admitted).as(algorithm.text()).isGreaterThanOrEqualTo(5 * after * 80 / 100);
		}
	}

	private void start(Policy policy) {
		this.policies.clear();
		this.fleet.clear();
		Counters counters = Connections.guarded(Connections.standalone().at(this.micros::get));
		for (int i = 0; i < INSTANCES; i++) {
			AtomicReference<PolicySet> own = new AtomicReference<>(PolicySet.of(policy));
			this.policies.add(own);
			LeasedCounters leased = new LeasedCounters(counters, LeaseOptions.DEFAULTS, () -> INSTANCES,
					(counter) -> true, (permits) -> {
					}, () -> this.micros.get() * 1_000, FakeCounters.NEVER);
			this.fleet.add(RateLimiterBuilder.on(leased)
				.policies(own::get)
				.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
				.options(new LimiterOptions(Duration.ofSeconds(30), FailureMode.DENY, 64))
				.build());
		}
	}

	/** Lets all instances ask for so many steps, and returns what was admitted. */
	private long run(int steps) {
		long admitted = 0;
		for (int step = 0; step < steps; step++) {
			List<CompletableFuture<Decision>> decisions = new ArrayList<>();
			for (int i = 0; i < ASKED; i++) {
				this.fleet.forEach((instance) -> decisions.add(instance.check(ACME).toCompletableFuture()));
			}
			admitted += decisions.stream().mapToLong((decision) -> decision.join().granted()).sum();
			this.micros.addAndGet(STEP_MICROS);
		}
		return admitted;
	}

	private static Policy policy(Algorithm algorithm, Enforcement enforcement, long perSecond, long version) {
		return Policy.builder("orders")
			.version(version)
			.algorithm(algorithm)
			.enforcement(enforcement)
			.limit(Limit.of("per-tenant", List.of(Dimension.TENANT), perSecond + "/s"))
			.build();
	}

}
