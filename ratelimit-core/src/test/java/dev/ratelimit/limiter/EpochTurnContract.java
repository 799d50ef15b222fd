package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.split.SplitCounters;
import dev.ratelimit.split.Splitting;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds when the keys of hashed values change: nobody gets permits anew by it, and
 * nobody notices. Windows are long, so that a store on a real clock gives back nothing
 * meanwhile; the clock of the epochs is the test's own.
 */
public abstract class EpochTurnContract {

	private static final Duration ROTATE = Duration.ofDays(90);

	private static final long TURN = 300 * ROTATE.toMillis();

	/** Two windows of 30 days, and what clocks may differ by. */
	private static final long OVER = TURN + Duration.ofDays(60).plus(Epochs.TOLERANCE).toMillis();

	/** A check that is late would be let pass without being counted. */
	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private static final Request CALLER = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.IP, "198.51.100.7");

	private final AtomicLong millis = new AtomicLong(TURN - 1_000);

	private Counters counters;

	/**
	 * Where counters are kept, empty.
	 */
	protected abstract Counters counters();

	@BeforeEach
	void createCounters() {
		this.counters = SplitCounters.of(counters(), Splitting.CONFIGURED);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void oldCounterStillRefusesAfterTheTurn(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		assertThat(check(limiter, 6).allowed()).isTrue();
		this.millis.set(TURN);
		assertThat(check(limiter, 5).allowed()).isFalse();
		assertThat(check(limiter, 4).allowed()).isTrue();
		assertThat(check(limiter, 1).allowed()).isFalse();
		this.millis.set(OVER - 1);
		assertThat(check(limiter, 1).allowed()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void newCounterIsChargedFromTheTurnOn(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		assertThat(check(limiter, 6).allowed()).isTrue();
		this.millis.set(TURN);
		assertThat(check(limiter, 3).allowed()).isTrue();
		this.millis.set(OVER);
		assertThat(check(limiter, 0).limits().get(0).remaining()).isEqualTo(7);
		assertThat(check(limiter, 8).allowed()).isFalse();
		assertThat(check(limiter, 7).allowed()).isTrue();
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void newCounterRefusesToo(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		this.millis.set(OVER);
		assertThat(check(limiter, 10).allowed()).isTrue();
		this.millis.set(OVER - 1);
		Decision refused = check(limiter, 1);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.limits().get(0).remaining()).isZero();
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void refusedRequestTakesNothingOfEither(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		check(limiter, 6);
		this.millis.set(TURN);
		assertThat(check(limiter, 5).allowed()).isFalse();
		this.millis.set(OVER);
		assertThat(check(limiter, 0).limits().get(0).remaining()).isEqualTo(10);
		this.millis.set(TURN - 1);
		assertThat(check(limiter, 0).limits().get(0).remaining()).isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void eachQuotaIsToldOnceAsTheStricterCounterHasIt(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(Policy.builder("orders")
			.algorithm(algorithm)
			.limit("per-ip", List.of(Dimension.IP), "10/20d", "20/30d")
			.limit("per-tenant", List.of(Dimension.TENANT), "50/30d")
			.build());
		check(limiter, 6);
		this.millis.set(TURN);
		Decision decision = check(limiter, 1);
		assertThat(decision.limits()).extracting((status) -> status.limit().name() + " " + status.remaining())
			.containsExactlyInAnyOrder("per-ip 3", "per-ip 13", "per-tenant 43");
		assertThat(decision.limits()).hasSize(3);
		assertThat(decision.remaining()).isEqualTo(3);
		Decision refused = check(limiter, 4);
		assertThat(refused.refusedBy().limit().name()).isEqualTo("per-ip");
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void giveBackGoesToBoth(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		check(limiter, 4);
		this.millis.set(TURN);
		join(check(limiter, 5).giveBack());
		assertThat(left(limiter)).isEqualTo(6);
		this.millis.set(OVER);
		assertThat(left(limiter)).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void settleGoesToBoth(Algorithm algorithm) {
		settled(algorithm, Limit.of("per-ip", List.of(Dimension.IP), "10/30d"));
	}

	/** Each part has 10 permits, and the parts of both epochs are chosen apart. */
	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void settleOfACounterInPartsGoesToThePartsThatPaid(Algorithm algorithm) {
		if (this.counters.source() != Decision.Source.MEMORY) {
			settled(algorithm, Limit.of("per-ip", List.of(Dimension.IP), "40/30d").withSplit(4));
		}
	}

	private void settled(Algorithm algorithm, Limit limit) {
		long all = limit.quotas().get(0).permits();
		PolicyRateLimiter limiter = limiter(
				Policy.builder("orders").algorithm(algorithm).limit(limit).settling(Settling.byCode(5)).build());
		check(limiter, 4);
		this.millis.set(TURN);
		assertThat(join(check(limiter, 5).settle(2))).isEqualTo(Settlement.REFUNDED);
		assertThat(join(check(limiter, 1).settle(2))).isEqualTo(Settlement.SETTLED);
		assertThat(left(limiter)).isEqualTo(all - 4 - 2 - 2);
		this.millis.set(OVER);
		assertThat(left(limiter)).isEqualTo(all - 2 - 2);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void usageIsThatOfTheStricterAndAResetForgetsBoth(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(perIp(algorithm, "10/30d"));
		check(limiter, 6);
		this.millis.set(TURN);
		check(limiter, 1);
		CallerUsage usage = limiter.usage();
		CallerUsage.Found found = usage.find(CALLER, (limit) -> true);
		assertThat(found.limits()).containsExactly("per-ip");
		assertThat(join(usage.read(found, CALLER))).singleElement()
			.satisfies((limit) -> assertThat(limit.statuses()).singleElement()
				.satisfies((status) -> assertThat(status.remaining()).isEqualTo(3)));
		join(usage.reset(found, CALLER));
		assertThat(left(limiter)).isEqualTo(10);
		this.millis.set(TURN - 1);
		assertThat(left(limiter)).isEqualTo(10);
		this.millis.set(OVER);
		assertThat(left(limiter)).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource(Enforcement.class)
	void turnGivesNoPermitsAnewWhateverTheEnforcement(Enforcement enforcement) {
		Limit limit = new Limit("per-ip", List.of(Dimension.IP), Limit.of("x", List.of(), "400/30d").quotas(),
				enforcement);
		assertThat(admittedAcrossATurn(limit)).isLessThanOrEqualTo(400).isGreaterThan(300);
	}

	@ParameterizedTest
	@EnumSource(value = Algorithm.class, names = { "GCRA", "SLIDING_WINDOW_LOG" })
	void turnGivesNoPermitsAnewToCountersInParts(Algorithm algorithm) {
		assertThat(admittedAcrossATurn(Limit.of("per-ip", List.of(Dimension.IP), "40/30d").withSplit(4), algorithm))
			.isEqualTo(40);
	}

	/** An instance that is a little ahead, and one that is behind. */
	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void instancesWhoseClocksDifferKeepToTheLimitTogether(Algorithm algorithm) {
		PolicyRateLimiter ahead = limiter(perIp(algorithm, "10/30d"), 20_000);
		PolicyRateLimiter behind = limiter(perIp(algorithm, "10/30d"), -20_000);
		this.millis.set(TURN);
		int admitted = 0;
		for (int i = 0; i < 10; i++) {
			admitted += check(ahead, 1).allowed() ? 1 : 0;
			admitted += check(behind, 1).allowed() ? 1 : 0;
		}
		assertThat(admitted).isEqualTo(10);
	}

	private long admittedAcrossATurn(Limit limit) {
		return admittedAcrossATurn(limit, Algorithm.GCRA);
	}

	private long admittedAcrossATurn(Limit limit, Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", algorithm, limit));
		long permits = limit.quotas().get(0).permits();
		Set<Decision.Source> sources = EnumSet.noneOf(Decision.Source.class);
		long admitted = 0;
		for (long i = 0; i < 2 * permits; i++) {
			if (i == permits / 2) {
				this.millis.set(TURN);
			}
			Decision decision = check(limiter, 1);
			sources.add(decision.source());
			admitted += decision.allowed() ? 1 : 0;
		}
		assertThat(sources).doesNotContain(Decision.Source.NONE, Decision.Source.LOCAL);
		return admitted;
	}

	private PolicyRateLimiter limiter(Policy policy) {
		return limiter(policy, 0);
	}

	private PolicyRateLimiter limiter(Policy policy, long ahead) {
		PolicySet policies = PolicySet.of(policy);
		CounterKeys keys = new CounterKeys("rl", Set.of(Dimension.IP),
				new Epochs(Salt.of("salt of the tests"), ROTATE, () -> this.millis.get() + ahead));
		return RateLimiterBuilder.on(this.counters)
			.policies(() -> policies)
			.keys(keys)
			.fallback(Fallback.to(this.counters))
			.options(PATIENT)
			.build();
	}

	private static Policy perIp(Algorithm algorithm, String quota) {
		return Policy.builder("orders").algorithm(algorithm).limit("per-ip", List.of(Dimension.IP), quota).build();
	}

	private static Decision check(PolicyRateLimiter limiter, long cost) {
		Decision decision = join(limiter.check(CALLER.withCost(cost)));
		assertThat(decision.degraded()).isFalse();
		return decision;
	}

	private static long left(PolicyRateLimiter limiter) {
		return join(CallerState.peek(limiter, CALLER)).get(0).remaining();
	}

}
