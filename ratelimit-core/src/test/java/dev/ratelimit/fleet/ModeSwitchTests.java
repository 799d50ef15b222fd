package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.FailureMode;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.SwitchStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedSwitchTests {

	private static final ForcedMode ALLOW = new ForcedMode(FailureMode.ALLOW, Duration.ofHours(1), "ann", "incident 7");

	// A clock that is about to overflow, as System.nanoTime may.
	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);

	private final Store store = new Store();

	private final RedSwitch redSwitch = new RedSwitch(null, this.store, this.nanos::get);

	@Test
	void isOffToBeginWith() {
		assertThat(this.redSwitch.mode()).isNull();
		assertThat(this.redSwitch.forced()).isNull();
	}

	@Test
	void callIsWrittenBeforeItIsObeyed() {
		CompletableFuture<Void> done = this.redSwitch.turnOn(ALLOW).toCompletableFuture();
		assertThat(this.store.written).isEqualTo(ALLOW);
		assertThat(this.redSwitch.mode()).isNull();
		this.store.reply.complete(null);
		assertThat(done).isCompleted();
		assertThat(this.redSwitch.mode()).isEqualTo(FailureMode.ALLOW);
	}

	@Test
	void callThatCannotBeWrittenChangesNothingAndNamesTheWayOut() {
		CompletableFuture<Void> done = this.redSwitch.turnOn(ALLOW).toCompletableFuture();
		this.store.reply.completeExceptionally(new TimeoutException());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(done::join)
			.havingCause()
			.isInstanceOf(SwitchNotWrittenException.class)
			.withMessageContaining("ratelimit.switch.mode");
		assertThat(this.redSwitch.mode()).isNull();
	}

	@Test
	void turningOffThatCannotBeWrittenLeavesItOn() {
		this.redSwitch.seen(ALLOW);
		this.redSwitch.turnOff();
		this.store.reply.completeExceptionally(new TimeoutException());
		assertThat(this.redSwitch.mode()).isEqualTo(FailureMode.ALLOW);
	}

	@Test
	void turningOffIsObeyedAtOnce() {
		this.redSwitch.seen(ALLOW);
		this.redSwitch.turnOff();
		this.store.reply.complete(null);
		assertThat(this.redSwitch.mode()).isNull();
	}

	@Test
	void revertsByItselfWhenItsTimeIsOver() {
		this.redSwitch.seen(ALLOW);
		this.nanos.addAndGet(Duration.ofHours(1).toNanos() - 1);
		assertThat(this.redSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		this.nanos.incrementAndGet();
		assertThat(this.redSwitch.mode()).isNull();
		assertThat(this.redSwitch.forced()).isNull();
	}

	@Test
	void tellsHowMuchLongerWhoAndWhy() {
		this.redSwitch.seen(ALLOW);
		this.nanos.addAndGet(Duration.ofMinutes(20).toNanos());
		assertThat(this.redSwitch.forced()).isEqualTo(ALLOW.withLeft(Duration.ofMinutes(40)));
	}

	@Test
	void whatWasSeenLastHolds() {
		this.redSwitch.seen(ALLOW);
		this.redSwitch.seen(new ForcedMode(FailureMode.DENY, Duration.ofHours(1), "bob", ""));
		assertThat(this.redSwitch.mode()).isEqualTo(FailureMode.DENY);
		this.redSwitch.seen(null);
		assertThat(this.redSwitch.mode()).isNull();
	}

	@Test
	void propertyWinsOverACallAndHasNoEnd() {
		RedSwitch byProperty = new RedSwitch(FailureMode.DENY, this.store, this.nanos::get);
		byProperty.seen(ALLOW);
		assertThat(byProperty.mode()).isEqualTo(FailureMode.DENY);
		assertThat(byProperty.property()).isEqualTo(FailureMode.DENY);
		assertThat(byProperty.forced()).isEqualTo(ALLOW);
		this.nanos.addAndGet(Duration.ofDays(365).toNanos());
		assertThat(byProperty.mode()).isEqualTo(FailureMode.DENY);
	}

	@Test
	void worksWithoutAStore() {
		RedSwitch alone = new RedSwitch(null, SwitchStore.NONE, this.nanos::get);
		alone.turnOn(ALLOW);
		assertThat(alone.mode()).isEqualTo(FailureMode.ALLOW);
		alone.turnOff();
		assertThat(alone.mode()).isNull();
	}

	private static final class Store implements SwitchStore {

		final CompletableFuture<Void> reply = new CompletableFuture<>();

		ForcedMode written;

		@Override
		public CompletionStage<Void> put(ForcedMode forced) {
			this.written = forced;
			return this.reply;
		}

		@Override
		public CompletionStage<Void> clear() {
			return this.reply;
		}

	}

}
