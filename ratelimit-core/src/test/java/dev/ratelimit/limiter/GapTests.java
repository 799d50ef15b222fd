package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counters of which some answer and others do not, or too late.
 */
class GapTests {

	private static final Request ANN = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.IP, "192.0.2.1");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final HalfSick counters = new HalfSick();

	private final FakeCounters fake = new FakeCounters(this.counters.healthy, this.counters);

	private final MemoryCounters local = memory();

	@Test
	void healthyLimitIsStillEnforcedUnderAllow() {
		PolicyRateLimiter limiter = limiter(FailureMode.ALLOW);
		for (int i = 0; i < 3; i++) {
			Decision decision = check(limiter, ANN);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.degraded()).isTrue();
			assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ALLOWED);
			assertThat(decision.source()).isEqualTo(Decision.Source.REDIS);
		}
		Decision refused = check(limiter, ANN);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.degraded()).isTrue();
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().name()).isEqualTo("per-tenant");
	}

	@Test
	void sickLimitUnderDenyGivesBackToTheHealthyOne() {
		Decision decision = check(limiter(FailureMode.DENY), ANN);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(this.counters.tenantRemaining()).isEqualTo(3);
	}

	@Test
	void sickLimitUnderLocalIsCountedHereAndItsRefusalGivesBack() {
		PolicyRateLimiter limiter = limiter(FailureMode.LOCAL);
		assertThat(check(limiter, ANN).allowed()).isTrue();
		Decision refused = check(limiter, ANN);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.source()).isEqualTo(Decision.Source.LOCAL);
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().name()).isEqualTo("per-ip");
		assertThat(this.counters.tenantRemaining()).isEqualTo(2);
	}

	@Test
	void whatWasGrantedDespiteAGapCanBeGivenBack() {
		Decision decision = check(limiter(FailureMode.ALLOW), ANN);
		assertThat(this.counters.tenantRemaining()).isEqualTo(2);
		decision.giveBack();
		assertThat(this.counters.tenantRemaining()).isEqualTo(3);
	}

	@Test
	void floorHoldsThoughOneLimitIsHealthy() {
		PolicyRateLimiter limiter = limiter(
				orders().onFailure(FailureMode.ALLOW).degradedFloor(Quota.parse("1/m")).build());
		assertThat(check(limiter, ANN).allowed()).isTrue();
		assertThat(check(limiter, ANN).allowed()).isFalse();
		assertThat(this.counters.tenantRemaining()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void lateSuccessCountsIfTheRequestWasLetPassAndIsGivenBackOtherwise(FailureMode mode) {
		PolicyRateLimiter limiter = limiter(mode);
		boolean allowed = check(limiter, ANN).allowed();
		this.counters.answerLate();
		assertThat(allowed).isEqualTo(mode != FailureMode.DENY);
		assertThat(this.counters.lateGivenBack()).isEqualTo(allowed ? 0 : 1);
	}

	@Test
	void lateSuccessIsGivenBackIfLocalRefused() {
		PolicyRateLimiter limiter = limiter(FailureMode.LOCAL);
		check(limiter, ANN);
		assertThat(check(limiter, ANN).allowed()).isFalse();
		this.counters.answerLate();
		assertThat(this.counters.lateGivenBack()).isEqualTo(1);
	}

	@Test
	void lateSuccessBesideARefusalIsGivenBack() {
		PolicyRateLimiter limiter = limiter(FailureMode.ALLOW);
		check(limiter, ANN.withCost(3));
		this.counters.late.clear();
		assertThat(check(limiter, ANN).allowed()).isFalse();
		this.counters.answerLate();
		assertThat(this.counters.lateGivenBack()).isEqualTo(1);
	}

	@Test
	void costAboveTheShareOfAnInstancePassesWhenItIsFullAndIsOwed() {
		Policy policy = Policy.builder("orders")
			.limit("per-ip", List.of(Dimension.IP), "60/m")
			.onFailure(FailureMode.LOCAL)
			.build();
		PolicyRateLimiter limiter = RateLimiterBuilder.on(this.fake)
			.policies(policy)
			.fallback(new Fallback(this.local, () -> 9, () -> null))
			.build();
		assertThat(check(limiter, ANN.withCost(15)).allowed()).isTrue();
		assertThat(check(limiter, ANN).allowed()).isFalse();
		// A share is 10 a minute, of which 5 are owed: the next one comes with the sixth.
		this.now.addAndGet(Duration.ofSeconds(35).toNanos() / 1_000);
		assertThat(check(limiter, ANN).allowed()).isFalse();
		this.now.addAndGet(Duration.ofSeconds(1).toNanos() / 1_000);
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void switchAnswersInsteadOfTheCounters() {
		PolicyRateLimiter limiter = RateLimiterBuilder.on(this.fake)
			.policies(orders().build())
			.fallback(new Fallback(this.local, () -> 1, () -> FailureMode.ALLOW))
			.build();
		for (int i = 0; i < 10; i++) {
			Decision decision = check(limiter, ANN);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.outcome()).isEqualTo(Decision.Outcome.BYPASSED);
			assertThat(decision.reason()).isEqualTo(Decision.Reason.SWITCH);
			assertThat(decision.mode()).isEqualTo(FailureMode.ALLOW);
		}
		assertThat(this.counters.tenantRemaining()).isEqualTo(3);
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), "3/m")
			.limit("per-ip", List.of(Dimension.IP), "1/m");
	}

	private PolicyRateLimiter limiter(FailureMode mode) {
		return limiter(orders().onFailure(mode).build());
	}

	private PolicyRateLimiter limiter(Policy policy) {
		return RateLimiterBuilder.on(this.fake)
			.policies(policy)
			.fallback(new Fallback(this.local, () -> 2, () -> null))
			.build();
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return join(limiter.check(request));
	}

	private MemoryCounters memory() {
		return new MemoryCounters(1_000, this.now::get);
	}

	/**
	 * Counts tenants, but does not answer in time for addresses.
	 */
	private final class HalfSick implements FakeCounters.Answer {

		private final MemoryCounters healthy = memory();

		private final List<CompletableFuture<Grant>> late = new ArrayList<>();

		private Counter tenant;

		@Override
		public CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout) {
			List<Counter> well = counters.stream().filter((counter) -> !isSick(counter)).toList();
			List<Counter> sick = counters.stream().filter(HalfSick::isSick).toList();
			CompletableFuture<Grant> answer = new CompletableFuture<>();
			this.late.add(answer);
			Grant.Gap gap = new Grant.Gap(sick, new UnansweredException(Decision.Reason.TIMEOUT, "late"), answer);
			if (well.isEmpty()) {
				return CompletableFuture.completedStage(Grant.unanswered(permits, gap));
			}
			this.tenant = well.get(0);
			return this.healthy.acquire(well, permits).thenApply((grant) -> FakeCounters.asRedis(grant, List.of(gap)));
		}

		/** The last request took a permit from its address after all. */
		void answerLate() {
			Counter ip = new Counter(this.tenant.spec(), "late");
			this.late.get(this.late.size() - 1).complete(join(this.healthy.acquire(List.of(ip), Permits.exactly(1))));
		}

		/** Of the permit that was taken late. */
		long lateGivenBack() {
			return remaining(new Counter(this.tenant.spec(), "late")) - 2;
		}

		long tenantRemaining() {
			return (this.tenant == null) ? 3 : remaining(this.tenant);
		}

		private long remaining(Counter counter) {
			return join(this.healthy.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
		}

		private static boolean isSick(Counter counter) {
			return counter.spec().limit().name().equals("per-ip");
		}

	}

}
