package dev.ratelimit.fleet;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.FailureMode;

/**
 * The emergency switch: a mode that answers every check in place of the counters.
 *
 * <p>
 * A property turns it on for this instance while it runs; a call turns it on for the
 * fleet until its time is over. The property wins, because it works while Redis is down
 * and a call from elsewhere must not undo it. This instance measures the time of a call
 * by its own monotonic clock, so the switch goes off even if Redis never answers again.
 */
public final class ModeSwitch {

	private static final Logger logger = LoggerFactory.getLogger(ModeSwitch.class);

	private final @Nullable FailureMode property;

	private final SwitchStore store;

	private final LongSupplier nanos;

	private final AtomicReference<@Nullable On> on = new AtomicReference<>();

	/**
	 * Creates a switch that is off, unless there is a property.
	 * @param property the mode set by property, {@code null} for none
	 * @param store writes calls for the fleet
	 * @param nanos a monotonic clock
	 */
	public ModeSwitch(@Nullable FailureMode property, SwitchStore store, LongSupplier nanos) {
		this.property = property;
		this.store = store;
		this.nanos = nanos;
	}

	/**
	 * The mode that answers every check, {@code null} if the counters do.
	 */
	public @Nullable FailureMode mode() {
		if (this.property != null) {
			return this.property;
		}
		On on = this.on.get();
		return (on == null || over(on)) ? null : on.forced().mode();
	}

	public @Nullable FailureMode property() {
		return this.property;
	}

	/**
	 * The setting by call until its time is over; without effect while a property is set.
	 */
	public @Nullable ForcedMode forced() {
		On on = this.on.get();
		if (on == null || over(on)) {
			return null;
		}
		long left = Math.max(1, on.end() - this.nanos.getAsLong());
		return on.forced().withLeft(Duration.ofNanos(left));
	}

	/**
	 * Turns it on, for the fleet and then at once for this instance. Fails with
	 * {@link SwitchNotWrittenException}.
	 */
	public CompletionStage<Void> turnOn(ForcedMode forced) {
		return written(this.store.put(forced), forced);
	}

	/**
	 * Turns it off, for the fleet and then at once for this instance. Fails with
	 * {@link SwitchNotWrittenException}.
	 */
	public CompletionStage<Void> turnOff() {
		ForcedMode forced = forced();
		return written(this.store.clear((forced != null) ? forced.left() : ForcedMode.LONGEST), null);
	}

	/**
	 * Takes over the fleet's setting, {@code null} for off.
	 */
	public void seen(@Nullable ForcedMode forced) {
		On after = (forced != null) ? new On(forced, this.nanos.getAsLong() + forced.left().toNanos()) : null;
		report(this.on.getAndSet(after), after);
	}

	/**
	 * The fleet has no record of the switch, neither on nor off. If it is on here, the
	 * fleet has lost it: it stays on until its end and is written again, by one instance.
	 */
	public void notRecorded() {
		ForcedMode forced = forced();
		if (forced != null) {
			this.store.restore(forced).whenComplete((restored, failure) -> {
				if (failure == null && restored) {
					logger.warn("Redis has lost the switch '{}'; it was written again for the {} s that are left",
							forced.mode().text(), forced.left().toSeconds());
				}
			});
		}
	}

	private CompletionStage<Void> written(CompletionStage<Void> write, @Nullable ForcedMode forced) {
		return write.handle((done, failure) -> {
			if (failure != null) {
				throw new SwitchNotWrittenException(failure);
			}
			seen(forced);
			return done;
		});
	}

	/** Removes a setting whose time is over, so that its end is logged once. */
	private boolean over(On on) {
		if (on.end() - this.nanos.getAsLong() > 0) {
			return false;
		}
		if (this.on.compareAndSet(on, null)) {
			report(on, null);
		}
		return true;
	}

	/** Actor and reason are in the audit log only. */
	private static void report(@Nullable On before, @Nullable On after) {
		if (after != null && (before == null || before.forced().mode() != after.forced().mode())) {
			logger.warn("The switch is on: every check is answered by '{}' for the next {} s",
					after.forced().mode().text(), after.forced().left().toSeconds());
		}
		else if (before != null && after == null) {
			logger.warn("The switch is off: the counters answer again");
		}
	}

	private record On(ForcedMode forced, long end) {
	}

}
