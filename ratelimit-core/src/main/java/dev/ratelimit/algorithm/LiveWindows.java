package dev.ratelimit.algorithm;

import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;

/**
 * The windows of all callers of one limit, each with the largest quotas in it. Callers
 * with different quotas (by tier, override or version) share counters. Each caller's own
 * quotas decide its requests, but its requests must keep the state that the quotas of
 * other callers still need.
 *
 * <p>
 * All counter specs of one limit share one object, which changes with the policy and with
 * the records about callers. An unchanged limit therefore keeps its spec, and with it its
 * leases and remembered refusals.
 */
public final class LiveWindows {

	private final @Nullable LiveWindows shared;

	private final List<LiveWindow> own;

	private final double factor;

	/** The result of the last merge, with the shared windows that went into it. */
	private volatile Merged merged;

	public LiveWindows() {
		this(null, List.of(), 1);
	}

	private LiveWindows(@Nullable LiveWindows shared, List<LiveWindow> own, double factor) {
		this.shared = shared;
		this.own = own;
		this.factor = factor;
		this.merged = new Merged(List.of(), merged(own));
	}

	/**
	 * Replaces the windows.
	 * @param windows windows of the live callers; may contain the same length several
	 * times
	 */
	public void set(Collection<LiveWindow> windows) {
		List<LiveWindow> fresh = merged(windows);
		if (!fresh.equals(this.merged.all())) {
			this.merged = new Merged(List.of(), fresh);
		}
	}

	/**
	 * A view of these windows, including later changes, plus the windows of quotas that
	 * only some counters have.
	 */
	public LiveWindows with(List<Quota> quotas) {
		return new LiveWindows(this, quotas.stream().map(LiveWindow::of).toList(), 1);
	}

	/**
	 * A view of these windows, including later changes, with longer fill times: their
	 * counters may owe more than a burst.
	 */
	public LiveWindows longer(double factor) {
		return (factor > 1) ? new LiveWindows(this, List.of(), factor) : this;
	}

	/**
	 * The current windows, sorted; the same object until they change.
	 */
	public List<LiveWindow> current() {
		Merged merged = this.merged;
		if (this.shared == null) {
			return merged.all();
		}
		List<LiveWindow> shared = this.shared.current();
		if (merged.of() != shared) {
			Stream<LiveWindow> longer = shared.stream().map((window) -> window.longer(this.factor));
			merged = new Merged(shared, merged(Stream.concat(longer, this.own.stream()).toList()));
			this.merged = merged;
		}
		return merged.all();
	}

	static List<LiveWindow> merged(Collection<LiveWindow> windows) {
		TreeMap<Long, LiveWindow> merged = new TreeMap<>();
		windows.forEach((window) -> merged.merge(window.micros(), window, LiveWindow::and));
		return List.copyOf(merged.values());
	}

	private record Merged(List<LiveWindow> of, List<LiveWindow> all) {
	}

}
