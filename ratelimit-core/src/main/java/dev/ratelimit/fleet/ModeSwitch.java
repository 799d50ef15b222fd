package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.FailureMode;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.SwitchStore;

/**
 * The big red switch: a mode that answers every check in place of the counters.
 *
 * <p>
 * It is set by property, for this instance and as long as it runs, or by call, for the
 * fleet and until its time is over. The property wins: it is the one that works when
 * Redis is what is broken, and nobody who set it expects a call from elsewhere to undo
 * it. The end of a call is kept on this instance's own monotonic clock, so that it comes
 * even if Redis never answers again.
 */
public final class RedSwitch {

	private static final Logger logger = LoggerFactory.getLogger(RedSwitch.class);

	private final @Nullable FailureMode property;

	private final SwitchStore store;

	private final LongSupplier nanos;

	private final AtomicReference<@Nullable On> on = new AtomicReference<>();

	/**
	 * Creates a switch that is off, unless there is a property.
	 * @param property the mode that is forced whatever else is said
	 * @param store where calls are written first
	 * @param nanos a monotonic clock
	 */
	public RedSwitch(@Nullable FailureMode property, SwitchStore store, LongSupplier nanos) {
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

	/**
	 * The mode set by property.
	 */
	public @Nullable FailureMode property() {
		return this.property;
	}

	/**
	 * What was set by call and is not over yet; without effect while there is a property.
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
		return written(this.store.clear(), null);
	}

	/**
	 * What the fleet's switch was just seen to be.
	 */
	public void seen(@Nullable ForcedMode forced) {
		On after = (forced != null) ? new On(forced, this.nanos.getAsLong() + forced.left().toNanos()) : null;
		report(this.on.getAndSet(after), after);
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

	/** Forgets what is over, so that it is told once and costs nothing from then on. */
	private boolean over(On on) {
		if (on.end() - this.nanos.getAsLong() > 0) {
			return false;
		}
		if (this.on.compareAndSet(on, null)) {
			report(on, null);
		}
		return true;
	}

	/** Who and why is for the audit log, not for this one. */
	private static void report(@Nullable On before, @Nullable On after) {
		if (after != null && (before == null || before.forced().mode() != after.forced().mode())) {
			logger.warn("The switch is on: every check is answered by '{}' for the next {} s",
					after.forced().mode().name().toLowerCase(Locale.ROOT), after.forced().left().toSeconds());
		}
		else if (before != null && after == null) {
			logger.warn("The switch is off: the counters answer again");
		}
	}

	private record On(ForcedMode forced, long end) {
	}

}
