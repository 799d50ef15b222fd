package dev.ratelimit.background;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class LoopTests {

	private static final String LOG = "test.loop";

	private static final Duration LONG = Duration.ofMinutes(1);

	private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

	private final CountDownLatch blocked = new CountDownLatch(1);

	@Test
	void turnsFollowEachOtherAfterThePauseThatEachReturns() throws Exception {
		Loop loop = new Loop("test", () -> turn(Duration.ofMillis(1)));
		loop.start();
		assertThat(next()).isEqualTo("turn");
		assertThat(next()).isEqualTo("turn");
		loop.end(LONG);
	}

	@Test
	void runsOnADaemonThreadOfItsName() throws Exception {
		Loop loop = new Loop("test-name", () -> {
			this.seen.add(Thread.currentThread().getName() + " " + Thread.currentThread().isDaemon());
			return Loop.UNTIL_WOKEN;
		});
		loop.start();
		assertThat(next()).isEqualTo("test-name true");
		loop.end(LONG);
	}

	@Test
	void firstTurnCanBeTheCallers() {
		Loop loop = new Loop("test", () -> {
			this.seen.add(Thread.currentThread().getName());
			return Loop.UNTIL_WOKEN;
		});
		loop.startAfterFirstTurn();
		assertThat(this.seen).containsExactly(Thread.currentThread().getName());
		loop.end(LONG);
	}

	@Test
	void wakeEndsAPause() throws Exception {
		Loop loop = new Loop("test", () -> turn(Loop.UNTIL_WOKEN));
		loop.start(LONG);
		loop.wake();
		assertThat(next()).isEqualTo("turn");
		loop.wake();
		assertThat(next()).isEqualTo("turn");
		loop.end(LONG);
	}

	@Test
	void wakeDuringATurnIsNotLost() throws Exception {
		Loop loop = new Loop("test", () -> {
			Duration pause = turn(Loop.UNTIL_WOKEN);
			this.blocked.await();
			return pause;
		});
		loop.start();
		next();
		loop.wake();
		this.blocked.countDown();
		assertThat(next()).isEqualTo("turn");
		loop.end(LONG);
	}

	@Test
	void endWaitsForTheTurnAndTheLastWork() throws Exception {
		Loop loop = loop(() -> {
			Duration pause = turn(Loop.UNTIL_WOKEN);
			this.blocked.await();
			this.seen.add("turn over");
			return pause;
		});
		loop.start();
		next();
		loop.stop(Duration.ZERO);
		this.blocked.countDown();
		assertThat(next()).isEqualTo("turn over");
		assertThat(next()).isEqualTo("last");
		loop.start();
		next();
		loop.end(LONG);
		assertThat(this.seen).containsExactly("turn over", "last");
	}

	@Test
	void endInterruptsATurnThatTakesTooLong() throws Exception {
		Loop loop = loop(() -> {
			this.seen.add("turn");
			this.blocked.await();
			return Loop.UNTIL_WOKEN;
		});
		loop.start();
		next();
		loop.end(Duration.ofMillis(1));
		assertThat(next()).isEqualTo("last");
	}

	@Test
	void endWithoutStartDoesNothing() {
		loop(() -> turn(LONG)).end(LONG);
		assertThat(this.seen).isEmpty();
	}

	@Test
	void failingTurnsAreRepeatedAndLoggedOnce() throws Exception {
		try (CapturedLog log = new CapturedLog(LOG)) {
			BlockingQueue<Boolean> fails = new LinkedBlockingQueue<>();
			Loop loop = loop(() -> {
				this.seen.add("turn");
				if (fails.take()) {
					throw new IllegalStateException("broken");
				}
				return Duration.ZERO;
			});
			loop.start();
			for (boolean fail : new boolean[] { true, true, false }) {
				loop.wake();
				next();
				loop.wake();
				fails.add(fail);
			}
			next();
			assertThat(log.lines()).containsExactly("fails (java.lang.IllegalStateException: broken)", "works");
			fails.add(false);
			loop.end(Duration.ofMillis(1));
		}
	}

	private Loop loop(Callable<Duration> turn) {
		return new Loop("test", turn, () -> this.seen.add("last"),
				new FailureLog(LoggerFactory.getLogger(LOG), "fails ({})", "works"));
	}

	private Duration turn(Duration pause) {
		this.seen.add("turn");
		return pause;
	}

	private String next() throws InterruptedException {
		return String.valueOf(this.seen.poll(10, TimeUnit.SECONDS));
	}

}
