package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an instance tells the fleet, in virtual time. Turns are made by the test, five in
 * a second as in production.
 */
class PenaltyExchangeTests {

	private static final Penalty TERMS = new Penalty(1_000_000, Duration.ofSeconds(10), Duration.ofSeconds(60), 0,
			Duration.ofSeconds(60), 0);

	private static final Request REQUEST = Request.of("orders").with(Dimension.USER, "ann");

	private final AtomicLong micros = new AtomicLong(1_000_000_000);

	private final ModelStore store = new ModelStore(this.micros::get);

	private final Penalties penalties = Penalties.shared((policy, kind) -> {
	}, (ip) -> false, () -> this.micros.get() * 1_000);

	private final PenaltyExchange exchange = new PenaltyExchange(this.penalties, this.store, () -> true);

	@AfterEach
	void close() {
		this.exchange.close();
	}

	@Test
	void offencesThatTheDeniedCacheAnswersAreReportedAtMostOnceASecondForEachKey() {
		Counter ann = counter("ann");
		Counter bob = counter("bob");
		refuse(ann);
		refuse(bob);
		pass(Duration.ofMillis(300));
		int before = this.store.reports;
		for (int turn = 0; turn < 50; turn++) {
			for (int i = 0; i < 100; i++) {
				refuse(ann);
			}
			refuse(bob);
			this.exchange.turn();
			pass(Duration.ofMillis(200));
		}
		// Two callers in 10 s.
		assertThat(this.store.reports - before).isEqualTo(2 * 10);
		assertThat(this.store.offences(ann.key())).isEqualTo(46 * 100);
		pass(Duration.ofSeconds(1));
		this.exchange.turn();
		assertThat(this.store.offences(ann.key())).isEqualTo(50 * 100);
		assertThat(this.store.offences(bob.key())).isEqualTo(50);
	}

	@Test
	void offencesThatWaitToBeReportedAreForgottenWithALift() {
		Counter ann = counter("ann");
		refuse(ann);
		pass(Duration.ofMillis(300));
		refuse(ann);
		this.exchange.turn();
		refuse(ann);
		this.exchange.lift(CallerKey.of(ann)).toCompletableFuture().join();
		pass(Duration.ofSeconds(1));
		this.exchange.turn();
		assertThat(this.store.offences(ann.key())).isZero();
	}

	@Test
	void callersAreLookedUpUntilTheLastUnlistedBanCanHaveEnded() {
		Counter ann = counter("ann");
		this.exchange.unlisted(0, Duration.ofSeconds(60));
		this.exchange.unlisted(1, Duration.ofSeconds(30));
		pass(Duration.ofSeconds(59));
		this.exchange.turn();
		this.penalties.find(TERMS, REQUEST, List.of(ann));
		this.exchange.turn();
		assertThat(this.store.reports).isEqualTo(1);
		pass(Duration.ofSeconds(2));
		this.exchange.turn();
		this.penalties.find(TERMS, REQUEST, List.of(ann));
		this.exchange.turn();
		assertThat(this.store.reports).isEqualTo(1);
	}

	/** A refusal from memory, which announces more than all turns of a test take. */
	private void refuse(Counter counter) {
		this.penalties.refused(TERMS, REQUEST, counter, 60_000_000, -1);
	}

	private void pass(Duration time) {
		this.micros.addAndGet(time.toNanos() / 1_000);
	}

	private static Counter counter(String user) {
		return new Counter(new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "5/s")),
				new CounterKeys("rl"), "orders", List.of(user));
	}

}
