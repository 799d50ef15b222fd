package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for penalties wherever counters are kept. Time only passes when a test says
 * so.
 */
public abstract class PenaltyContract {

	protected static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	/** A cool-down at each second offence, a ban with the sixth. */
	protected static final Penalty TERMS = new Penalty(2, Duration.ofSeconds(10), Duration.ofSeconds(15), 6,
			Duration.ofSeconds(60), 0);

	protected static final Request ANN = Request.of("login").with(Dimension.USER, "ann").with(Dimension.TENANT, "acme");

	/** Redis's clock must not be behind it, or states would not expire in time. */
	private final AtomicLong micros = new AtomicLong(System.currentTimeMillis() * 1_000);

	private final AtomicReference<@Nullable FailureMode> forced = new AtomicReference<>();

	/**
	 * Where counters are kept, empty.
	 */
	protected abstract Counters counters(LongSupplier micros);

	protected abstract Penalties penalties(LongSupplier nanos);

	/** First part of all keys. */
	protected String prefix() {
		return "rl";
	}

	@Test
	void policyWithPenaltiesAnnouncesAtLeastOneSecond() {
		PolicyRateLimiter limiter = limiter(perUser("5/s burst 1").penalty(TERMS).build());
		Decision refused = refuse(limiter, ANN);
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(1));
		assertThat(refused.limits().get(0).retryAfter()).isEqualTo(Duration.ofSeconds(1));
		PolicyRateLimiter without = limiter(perUser("5/s burst 1").build());
		assertThat(refuse(without, ANN.with(Dimension.USER, "bob")).retryAfter()).isLessThan(Duration.ofSeconds(1));
	}

	@Test
	void longerWaitIsAnnouncedAsItIs() {
		PolicyRateLimiter limiter = limiter(perUser("6/m burst 1").penalty(TERMS).build());
		assertThat(refuse(limiter, ANN).retryAfter()).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void callerThatKeepsSendingGetsCoolDownsThatDoubleUpToTheLongest() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 2);
		Decision first = check(limiter, ANN);
		assertThat(first.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(first.reason()).isEqualTo(Decision.Reason.COOL_DOWN);
		assertThat(first.source()).isEqualTo(Decision.Source.NONE);
		assertThat(first.retryAfter()).isBetween(Duration.ofMillis(9_700), Duration.ofSeconds(10));
		assertThat(check(limiter, ANN).retryAfter()).isEqualTo(Duration.ofSeconds(15));
	}

	@Test
	void refusalThatBeginsACoolDownAnnouncesIt() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		check(limiter, ANN);
		check(limiter, ANN);
		pass(Duration.ofMillis(300));
		assertThat(check(limiter, ANN).retryAfter()).isEqualTo(Duration.ofSeconds(1));
		Decision begun = check(limiter, ANN);
		assertThat(begun.reason()).isEqualTo(Decision.Reason.LIMITS);
		assertThat(begun.retryAfter()).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void sustainedAbuseIsBannedAndOthersAreNot() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 6);
		Decision banned = check(limiter, ANN);
		assertThat(banned.outcome()).isEqualTo(Decision.Outcome.DENIED);
		assertThat(banned.reason()).isEqualTo(Decision.Reason.BAN);
		assertThat(banned.retryAfter()).isBetween(Duration.ofSeconds(59), Duration.ofSeconds(60));
		assertThat(check(limiter, ANN.with(Dimension.USER, "bob")).allowed()).isTrue();
	}

	@Test
	void callerThatWaitsAsAnnouncedIsNeverPenalised() {
		PolicyRateLimiter limiter = limiter(perUser("1/m burst 1").penalty(TERMS).build());
		for (int i = 0; i < 20; i++) {
			Decision decision = check(limiter, ANN.withCost(1));
			assertThat(decision.reason()).isEqualTo(Decision.Reason.LIMITS);
			check(limiter, ANN);
			pass(check(limiter, ANN).retryAfter());
		}
	}

	@Test
	void banHoldsUnderTheSwitch() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 6);
		this.forced.set(FailureMode.ALLOW);
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.BAN);
		assertThat(check(limiter, ANN.with(Dimension.USER, "bob")).reason()).isEqualTo(Decision.Reason.SWITCH);
	}

	@Test
	void banHoldsWhileCountersDoNotAnswer() {
		Policy policy = perUser("1/s").penalty(TERMS).build();
		Penalties penalties = penalties(this::nanos);
		offend(limiter(policy, counters(this.micros::get), new CounterKeys(prefix()), penalties), 6);
		FakeCounters silent = FakeCounters.failing(new MemoryCounters(1, this.micros::get));
		PolicyRateLimiter degraded = limiter(policy, silent, new CounterKeys(prefix()), penalties);
		assertThat(check(degraded, ANN).reason()).isEqualTo(Decision.Reason.BAN);
		assertThat(check(degraded, ANN.with(Dimension.USER, "bob")).degraded()).isTrue();
	}

	@Test
	void banHoldsForARequestThatCouldNotBeResolved() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 6);
		Decision decision = limiter.degrade(ANN, new IllegalStateException("a resolver failed"))
			.toCompletableFuture()
			.join();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.BAN);
	}

	@Test
	void failureModeAnnouncesAtLeastOneSecondToo() {
		PolicyRateLimiter limiter = limiter(perUser("5/s burst 1").penalty(TERMS).onFailure(FailureMode.LOCAL).build());
		this.forced.set(FailureMode.LOCAL);
		refusedAfterOneSecond(() -> check(limiter, ANN));
		refusedAfterOneSecond(() -> limiter.degrade(ANN, new IllegalStateException("a resolver failed"))
			.toCompletableFuture()
			.join());
	}

	private static void refusedAfterOneSecond(Supplier<Decision> check) {
		Decision refused = check.get();
		for (int i = 0; refused.allowed() && i < 10; i++) {
			refused = check.get();
		}
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void sharedLimitPenalisesNobody() {
		PolicyRateLimiter limiter = limiter(Policy.builder("login")
			.limit("per-tenant", List.of(Dimension.TENANT), "1/s")
			.limit("per-user", List.of(Dimension.USER), "1000/s")
			.penalty(TERMS)
			.build());
		offend(limiter, 20);
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.LIMITS);
	}

	@Test
	void addressThatIsNotKnownToBeTheCallersIsNotPenalised() {
		PolicyRateLimiter limiter = limiter(perIp().build());
		Request proxied = Request.of("login").withUnverified(Dimension.IP, "198.51.100.7");
		offend(limiter, proxied, 20);
		assertThat(check(limiter, proxied).reason()).isEqualTo(Decision.Reason.LIMITS);
	}

	@Test
	void addressOfATrustedProxyIsNotPenalised() {
		PolicyRateLimiter limiter = limiter(perIp().build());
		Request proxy = Request.of("login").with(Dimension.IP, "10.0.0.1");
		offend(limiter, proxy, 20);
		assertThat(check(limiter, proxy).reason()).isEqualTo(Decision.Reason.LIMITS);
		Request caller = Request.of("login").with(Dimension.IP, "198.51.100.7");
		offend(limiter, caller, 6);
		assertThat(check(limiter, caller).reason()).isEqualTo(Decision.Reason.BAN);
	}

	@Test
	void addressInPlaceOfAMissingUserIsPenalisedUnlessItIsAProxy() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		Request caller = Request.of("login").with(Dimension.IP, "198.51.100.7");
		offend(limiter, caller, 6);
		assertThat(check(limiter, caller).reason()).isEqualTo(Decision.Reason.BAN);
		Request proxy = Request.of("login").with(Dimension.IP, "10.0.0.1");
		offend(limiter, proxy, 20);
		assertThat(check(limiter, proxy).reason()).isEqualTo(Decision.Reason.LIMITS);
	}

	@Test
	void requestThatNeverFitsIsNoOffence() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, ANN.withCost(2), 20);
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void policyInShadowPenalisesNobody() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).shadow(true).build());
		offend(limiter, 20);
		Decision decision = check(limiter, ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.LIMITS);
	}

	@Test
	void banOutlastsTheTurnOfAnEpoch() {
		AtomicLong millis = new AtomicLong(Duration.ofHours(10).toMillis() - 1_000);
		Epochs epochs = new Epochs(Salt.of("salt of the tests"), Duration.ofHours(1), millis::get);
		CounterKeys keys = new CounterKeys(prefix(), Set.of(Dimension.IP), epochs);
		Penalty terms = new Penalty(2, Duration.ofSeconds(10), Duration.ofSeconds(15), 6, Duration.ofMinutes(30), 0);
		PolicyRateLimiter limiter = limiter(perIp().penalty(terms).build(), counters(this.micros::get), keys,
				penalties(this::nanos));
		Request caller = Request.of("login").with(Dimension.IP, "198.51.100.7");
		offend(limiter, caller, 6);
		millis.addAndGet(Duration.ofMinutes(20).toMillis());
		assertThat(check(limiter, caller).reason()).isEqualTo(Decision.Reason.BAN);
	}

	protected final void pass(Duration time) {
		this.micros.addAndGet(time.toNanos() / 1_000);
	}

	protected final long nanos() {
		return this.micros.get() * 1_000;
	}

	protected final LongSupplier micros() {
		return this.micros::get;
	}

	protected final void offend(PolicyRateLimiter limiter, int offences) {
		offend(limiter, ANN, offences);
	}

	/**
	 * Uses up the limit, begins a run and offends, until 300 ms after the last offence.
	 */
	protected final void offend(PolicyRateLimiter limiter, Request caller, int offences) {
		check(limiter, caller);
		check(limiter, caller);
		pass(Duration.ofMillis(300));
		for (int i = 0; i < offences; i++) {
			check(limiter, caller);
		}
		pass(Duration.ofMillis(300));
	}

	protected final PolicyRateLimiter limiter(Policy policy) {
		return limiter(policy, counters(this.micros::get), new CounterKeys(prefix()), penalties(this::nanos));
	}

	protected final PolicyRateLimiter limiter(Policy policy, Counters counters, CounterKeys keys, Penalties penalties) {
		PolicySet policies = PolicySet.of(policy);
		Fallback fallback = new Fallback(new MemoryCounters(1_000, this.micros::get), () -> 1, this.forced::get);
		return RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.keys(keys)
			.fallback(fallback)
			.options(PATIENT)
			.penalties(penalties)
			.build();
	}

	protected static PolicyBuilder perUser(String quota) {
		return Policy.builder("login").limit("per-user", List.of(Dimension.USER), quota);
	}

	private static PolicyBuilder perIp() {
		return Policy.builder("login").limit("per-ip", List.of(Dimension.IP), "1/s").penalty(TERMS);
	}

	/** Whether an address is one of our proxies. */
	protected static boolean isProxy(String ip) {
		return ip.startsWith("10.");
	}

	private static Decision refuse(PolicyRateLimiter limiter, Request request) {
		check(limiter, request);
		Decision refused = check(limiter, request);
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		return refused;
	}

	protected static Decision check(PolicyRateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

}
