package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A changed limit gives no free reset and locks nobody out, whatever changes it: a new
 * version, a record, or a caller that moves into a rollout and out of it. A bucket keeps
 * the share that was used, a window the number. Windows are long, so that a store on a
 * real clock gives back nothing meanwhile.
 */
public abstract class LimitChangeContract {

	/** Of ten permits five are used, of a hundred fifty. What is left then? */
	private static final String RAISED_AND_LOWERED = """
			GCRA, 50, 5
			TOKEN_BUCKET, 50, 5
			SLIDING_WINDOW_COUNTER, 95, 0
			SLIDING_WINDOW_LOG, 95, 0
			FIXED_WINDOW, 95, 0
			""";

	/** A check that is late would be let pass without being counted. */
	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	private final AtomicReference<PolicySet> policies = new AtomicReference<>();

	private PolicyRateLimiter limiter;

	/**
	 * Where counters are kept, empty.
	 */
	protected abstract Counters counters();

	@BeforeEach
	void createLimiter() {
		Counters counters = counters();
		this.limiter = RateLimiterBuilder.on(counters)
			.policies(this.policies::get)
			.fallback(Fallback.to(counters))
			.options(PATIENT)
			.build();
	}

	@ParameterizedTest
	@CsvSource(textBlock = RAISED_AND_LOWERED)
	void newVersionKeepsWhatWasUsed(Algorithm algorithm, long raised, long lowered) {
		this.policies.set(PolicySet.of(orders(algorithm, 0, 10)));
		take(5);
		replace(orders(algorithm, 1, 100), null);
		assertThat(left()).isEqualTo(raised);
		reset();
		take(50);
		replace(orders(algorithm, 2, 10), null);
		assertThat(left()).isEqualTo(lowered);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void whatIsLeftIsAdmittedAndNoMore(Algorithm algorithm) {
		this.policies.set(PolicySet.of(orders(algorithm, 0, 10)));
		take(5);
		replace(orders(algorithm, 1, 100), null);
		long left = left();
		assertThat(check(left + 1).allowed()).isFalse();
		assertThat(check(left).allowed()).isTrue();
		assertThat(check(1).allowed()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void changeThereAndBackGivesNothingAndTakesNothing(Algorithm algorithm) {
		this.policies.set(PolicySet.of(orders(algorithm, 0, 10)));
		take(4);
		replace(orders(algorithm, 1, 100), null);
		assertThat(left()).isPositive();
		replace(orders(algorithm, 2, 10), null);
		assertThat(left()).isEqualTo(6);
	}

	@ParameterizedTest
	@CsvSource(textBlock = RAISED_AND_LOWERED)
	void callerThatMovesIntoARolloutKeepsWhatItUsed(Algorithm algorithm, long raised, long lowered) {
		move(orders(algorithm, 1, 10), orders(algorithm, 2, 100), 5, raised);
		reset();
		move(orders(algorithm, 3, 100), orders(algorithm, 4, 10), 50, lowered);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void callerThatARolloutIsTakenBackFromKeepsWhatItUsed(Algorithm algorithm) {
		Policy first = orders(algorithm, 1, 10);
		Policy second = orders(algorithm, 2, 100);
		this.policies.set(PolicySet.of(first));
		take(4);
		replace(second.with(Rollout.COMPLETE.withPercent(99)), first);
		assertThat(check(0).version()).isEqualTo(2);
		replace(second.with(Rollout.COMPLETE.withPercent(0)), first);
		assertThat(check(0).version()).isEqualTo(1);
		assertThat(left()).isEqualTo(6);
	}

	/**
	 * A rollout is by tenant, so callers on both sides of it may share a counter: of ten
	 * permits five are used outside, then of a hundred twenty inside.
	 */
	@ParameterizedTest
	@CsvSource({ "GCRA, 50, 3", "TOKEN_BUCKET, 50, 3", "SLIDING_WINDOW_COUNTER, 95, 0", "SLIDING_WINDOW_LOG, 95, 0",
			"FIXED_WINDOW, 95, 0" })
	void callersOnBothSidesOfARolloutShareOneCounter(Algorithm algorithm, long inside, long outside) {
		Policy first = shared(algorithm, 1, 10);
		replace(shared(algorithm, 2, 100).with(Rollout.COMPLETE.withPercent(50)), first);
		Request out = tenantDecidedBy(1);
		Request in = tenantDecidedBy(2);
		assertThat(check(out, 5).allowed()).isTrue();
		assertThat(left(in)).isEqualTo(inside);
		assertThat(check(in, 20).allowed()).isTrue();
		assertThat(left(in)).isEqualTo(inside - 20);
		assertThat(left(out)).isEqualTo(outside);
		assertThat(check(out, outside + 1).allowed()).isFalse();
	}

	@ParameterizedTest
	@CsvSource(textBlock = RAISED_AND_LOWERED)
	void recordKeepsWhatWasUsed(Algorithm algorithm, long raised, long lowered) {
		this.policies.set(PolicySet.of(orders(algorithm, 0, 10)));
		take(5);
		override(100, 1);
		assertThat(left()).isEqualTo(raised);
		reset();
		take(50);
		override(10, 2);
		assertThat(left()).isEqualTo(lowered);
		this.policies.get().records().removeOverride("orders", Dimension.TENANT, "acme");
		assertThat(left()).isEqualTo(lowered);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void anotherAlgorithmStartsFresh(Algorithm algorithm) {
		Algorithm other = (algorithm == Algorithm.GCRA) ? Algorithm.FIXED_WINDOW : Algorithm.GCRA;
		this.policies.set(PolicySet.of(orders(algorithm, 0, 10)));
		take(5);
		replace(orders(other, 1, 10), null);
		assertThat(left()).isEqualTo(10);
	}

	private void move(Policy first, Policy second, long used, long left) {
		replace(second.with(Rollout.COMPLETE.withPercent(1)), first);
		assertThat(check(0).version()).isEqualTo(first.version());
		take(used);
		replace(second.with(Rollout.COMPLETE.withPercent(99)), first);
		assertThat(check(0).version()).isEqualTo(second.version());
		assertThat(left()).isEqualTo(left);
	}

	private void replace(Policy policy, Policy previous) {
		PolicySet before = (this.policies.get() != null) ? this.policies.get() : PolicySet.of();
		this.policies.set(before.mutate().put(policy, previous).build());
	}

	private void override(long permits, long order) {
		this.policies.get()
			.records()
			.putOverride("orders", Dimension.TENANT, "acme", Map.of("per-tenant", List.of(quota(permits))), order);
	}

	private static Policy orders(Algorithm algorithm, long version, long permits) {
		return Policy.builder("orders")
			.version(version)
			.algorithm(algorithm)
			.limit("per-tenant", List.of(Dimension.TENANT), quota(permits).toString())
			.build();
	}

	/** One that counts all tenants together. */
	private static Policy shared(Algorithm algorithm, long version, long permits) {
		return Policy.builder("orders")
			.version(version)
			.algorithm(algorithm)
			.limit("all", List.of(), quota(permits).toString())
			.build();
	}

	private Request tenantDecidedBy(long version) {
		return IntStream.range(0, 1_000)
			.mapToObj((i) -> ACME.with(Dimension.TENANT, "tenant-" + i))
			.filter((request) -> this.policies.get().match(request).policy().version() == version)
			.findFirst()
			.orElseThrow();
	}

	private static Quota quota(long permits) {
		return Quota.parse(permits + "/30d");
	}

	private void take(long cost) {
		assertThat(check(cost).allowed()).isTrue();
	}

	private Decision check(long cost) {
		return check(ACME, cost);
	}

	private Decision check(Request request, long cost) {
		Decision decision = join(this.limiter.check(request.withCost(cost)));
		assertThat(decision.degraded()).isFalse();
		return decision;
	}

	private long left() {
		return left(ACME);
	}

	private long left(Request request) {
		return join(CallerState.peek(this.limiter, request)).get(0).remaining();
	}

	private void reset() {
		join(CallerState.reset(this.limiter, ACME));
	}

}
