package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Ban;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.Penalties;

import static org.assertj.core.api.Assertions.assertThat;

class PenaltyTests extends PenaltyContract {

	private final List<String> began = new ArrayList<>();

	@Override
	protected Counters counters(LongSupplier micros) {
		return new MemoryCounters(1_000, micros);
	}

	@Override
	protected Penalties penalties(LongSupplier nanos) {
		return Penalties.local((policy, kind) -> this.began.add(policy + " " + kind.text()), PenaltyContract::isProxy,
				nanos);
	}

	@Test
	void callerIsAdmittedAfterItsCoolDown() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 2);
		pass(Duration.ofSeconds(9));
		assertThat(check(limiter, ANN).allowed()).isFalse();
		pass(Duration.ofSeconds(16));
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void callerInACoolDownOrBannedIsChargedForWhatWasAdmittedBefore() {
		PolicyRateLimiter limiter = limiter(perUser("3/h").penalty(TERMS).build());
		check(limiter, ANN.withCost(2));
		offend(limiter, 2);
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.COOL_DOWN);
		assertThat(usedBeforeAChargeOfOne(limiter)).isEqualTo(3);
		assertThat(usedBeforeAChargeOfOne(limiter)).isEqualTo(4);
		offend(limiter, 6);
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.BAN);
		assertThat(usedBeforeAChargeOfOne(limiter)).isEqualTo(5);
		assertThat(usedBeforeAChargeOfOne(limiter)).isEqualTo(6);
	}

	/** Permits that are used of 3 per hour; above 3 if some are owed. */
	private static long usedBeforeAChargeOfOne(PolicyRateLimiter limiter) {
		Decision decision = limiter.charge(ANN).toCompletableFuture().join();
		assertThat(decision.allowed()).isTrue();
		return Math.round(decision.limits().get(0).resetAfterMicros() / 1.2e9);
	}

	@Test
	void liftedBanIsOverAndItsOffencesAreForgotten() {
		Penalties penalties = penalties(this::nanos);
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build(), counters(micros()),
				new CounterKeys("rl"), penalties);
		offend(limiter, 6);
		List<Ban> bans = penalties.bans();
		assertThat(bans).singleElement().satisfies((ban) -> {
			assertThat(ban.caller().policy()).isEqualTo("login");
			assertThat(ban.caller().limit()).isEqualTo("per-user");
		});
		penalties.lift(bans.get(0).caller().key());
		assertThat(penalties.banned()).isZero();
		pass(Duration.ofSeconds(2));
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void clearedPenaltiesAreOverAndTheirOffencesAreForgotten() {
		Penalties penalties = penalties(this::nanos);
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build(), counters(micros()),
				new CounterKeys("rl"), penalties);
		offend(limiter, 6);
		assertThat(penalties.banned()).isOne();
		penalties.clear();
		assertThat(penalties.banned()).isZero();
		pass(Duration.ofSeconds(2));
		assertThat(check(limiter, ANN).allowed()).isTrue();
		offend(limiter, 2);
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.COOL_DOWN);
	}

	@Test
	void bannedCallerIsAdmittedAfterItsBan() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 6);
		pass(Duration.ofSeconds(59));
		assertThat(check(limiter, ANN).allowed()).isFalse();
		pass(Duration.ofSeconds(1));
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void turnOfAnEpochDoesNotCountAPenaltyTwice() {
		AtomicLong millis = new AtomicLong(Duration.ofHours(10).toMillis());
		Epochs epochs = new Epochs(Salt.of("salt of the tests"), Duration.ofHours(1), millis::get);
		CounterKeys keys = new CounterKeys("rl", Set.of(Dimension.USER), epochs);
		Penalties penalties = penalties(this::nanos);
		PolicyRateLimiter limiter = limiter(perUser("1/h").penalty(TERMS).build(), counters(micros()), keys, penalties);
		offend(limiter, 6);
		assertThat(this.began).containsExactly("login cool-down", "login cool-down", "login ban");
		assertThat(penalties.bans()).hasSize(1);
		Set<CallerKey> both = penalties.sameCaller(penalties.bans().get(0).caller());
		assertThat(both).hasSize(2);
		assertThat(both).allSatisfy((key) -> assertThat(penalties.sameCaller(key)).isEqualTo(both));
	}

	@Test
	void checkThatAsksForNothingIsNoOffence() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 2);
		for (int i = 0; i < 20; i++) {
			Decision peek = check(limiter, ANN.withCost(0));
			assertThat(peek.reason()).isEqualTo(Decision.Reason.COOL_DOWN);
			assertThat(peek.retryAfter()).isBetween(Duration.ofMillis(9_700), Duration.ofSeconds(10));
		}
		assertThat(this.began).containsExactly("login cool-down");
	}

	@Test
	void listenerHearsOfEachPenaltyThatBegins() {
		PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(TERMS).build());
		offend(limiter, 6);
		assertThat(this.began).containsExactly("login cool-down", "login cool-down", "login ban");
	}

}
