package dev.ratelimit.fleet;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.FailureMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ModeSwitchTests {

	private static final ForcedMode ALLOW = new ForcedMode(FailureMode.ALLOW, Duration.ofHours(1), "ann", "incident 7");

	// A clock that is about to overflow, as System.nanoTime may.
	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);

	private final Store store = new Store();

	private final ModeSwitch modeSwitch = new ModeSwitch(null, this.store, this.nanos::get);

	@Test
	void isOffToBeginWith() {
		assertThat(this.modeSwitch.mode()).isNull();
		assertThat(this.modeSwitch.forced()).isNull();
	}

	@Test
	void callIsWrittenBeforeItIsObeyed() {
		CompletableFuture<Void> done = this.modeSwitch.turnOn(ALLOW).toCompletableFuture();
		assertThat(this.store.written).isEqualTo(ALLOW);
		assertThat(this.modeSwitch.mode()).isNull();
		this.store.reply.complete(null);
		assertThat(done).isCompleted();
		assertThat(this.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
	}

	@Test
	void callThatCannotBeWrittenChangesNothingAndNamesTheWayOut() {
		CompletableFuture<Void> done = this.modeSwitch.turnOn(ALLOW).toCompletableFuture();
		this.store.reply.completeExceptionally(new TimeoutException());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(done::join)
			.havingCause()
			.isInstanceOf(SwitchNotWrittenException.class)
			.withMessageContaining("ratelimit.switch.mode");
		assertThat(this.modeSwitch.mode()).isNull();
	}

	@Test
	void turningOffThatCannotBeWrittenLeavesItOn() {
		this.modeSwitch.seen(ALLOW);
		this.modeSwitch.turnOff();
		this.store.reply.completeExceptionally(new TimeoutException());
		assertThat(this.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
	}

	@Test
	void turningOffIsObeyedAtOnce() {
		this.modeSwitch.seen(ALLOW);
		this.modeSwitch.turnOff();
		this.store.reply.complete(null);
		assertThat(this.modeSwitch.mode()).isNull();
	}

	@Test
	void revertsByItselfWhenItsTimeIsOver() {
		this.modeSwitch.seen(ALLOW);
		this.nanos.addAndGet(Duration.ofHours(1).toNanos() - 1);
		assertThat(this.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		this.nanos.incrementAndGet();
		assertThat(this.modeSwitch.mode()).isNull();
		assertThat(this.modeSwitch.forced()).isNull();
	}

	@Test
	void tellsHowMuchLongerWhoAndWhy() {
		this.modeSwitch.seen(ALLOW);
		this.nanos.addAndGet(Duration.ofMinutes(20).toNanos());
		assertThat(this.modeSwitch.forced()).isEqualTo(ALLOW.withLeft(Duration.ofMinutes(40)));
	}

	@Test
	void whatWasSeenLastHolds() {
		this.modeSwitch.seen(ALLOW);
		this.modeSwitch.seen(new ForcedMode(FailureMode.DENY, Duration.ofHours(1), "bob", ""));
		assertThat(this.modeSwitch.mode()).isEqualTo(FailureMode.DENY);
		this.modeSwitch.seen(null);
		assertThat(this.modeSwitch.mode()).isNull();
	}

	@Test
	void propertyWinsOverACallAndHasNoEnd() {
		ModeSwitch byProperty = new ModeSwitch(FailureMode.DENY, this.store, this.nanos::get);
		byProperty.seen(ALLOW);
		assertThat(byProperty.mode()).isEqualTo(FailureMode.DENY);
		assertThat(byProperty.property()).isEqualTo(FailureMode.DENY);
		assertThat(byProperty.forced()).isEqualTo(ALLOW);
		this.nanos.addAndGet(Duration.ofDays(365).toNanos());
		assertThat(byProperty.mode()).isEqualTo(FailureMode.DENY);
	}

	@Test
	void worksWithoutAStore() {
		ModeSwitch alone = new ModeSwitch(null, SwitchStore.NONE, this.nanos::get);
		alone.turnOn(ALLOW);
		assertThat(alone.mode()).isEqualTo(FailureMode.ALLOW);
		alone.turnOff();
		assertThat(alone.mode()).isNull();
	}

	@Test
	void switchThatTheFleetHasLostStaysOnAndIsWrittenAgainUntilItsEnd() {
		this.modeSwitch.seen(ALLOW);
		this.nanos.addAndGet(ALLOW.left().toNanos() - 1_000_000);
		this.modeSwitch.notRecorded();
		assertThat(this.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		assertThat(this.store.restored).isEqualTo(ALLOW.withLeft(Duration.ofMillis(1)));
		this.store.restored = null;
		this.nanos.addAndGet(1_000_000);
		this.modeSwitch.notRecorded();
		assertThat(this.modeSwitch.mode()).isNull();
		assertThat(this.store.restored).isNull();
	}

	@Test
	void offIsRecordedForAsLongAsTheSwitchWouldHaveBeenOn() {
		this.modeSwitch.seen(ALLOW);
		this.modeSwitch.turnOff();
		assertThat(this.store.off).isEqualTo(ALLOW.left());
	}

	private static final class Store implements SwitchStore {

		final CompletableFuture<Void> reply = new CompletableFuture<>();

		ForcedMode written;

		ForcedMode restored;

		Duration off;

		@Override
		public CompletionStage<Void> put(ForcedMode forced) {
			this.written = forced;
			return this.reply;
		}

		@Override
		public CompletionStage<Void> clear(Duration left) {
			this.off = left;
			return this.reply;
		}

		@Override
		public CompletionStage<Boolean> restore(ForcedMode forced) {
			this.restored = forced;
			return CompletableFuture.completedStage(true);
		}

	}

}
