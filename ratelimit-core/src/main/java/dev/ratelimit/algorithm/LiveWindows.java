package dev.ratelimit.algorithm;

import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;

/**
 * The windows in which callers of one limit are counted, and per window the most that any
 * of them is given. Callers with different quotas share counters: by tier, by override or
 * by version. Each is decided by its own quotas, but what it may throw away of the shared
 * state depends on what the others can still need of it.
 *
 * <p>
 * All that counts by one limit shares one object, which changes with the policy and with
 * the records about callers. So a limit that was left as it was keeps its spec, and with
 * it leases and remembered refusals.
 */
public final class LiveWindows {

	private final @Nullable LiveWindows shared;

	private final List<LiveWindow> own;

	/** With the shared windows that it was made of. */
	private volatile Merged merged;

	/**
	 * Begins without any window.
	 */
	public LiveWindows() {
		this(null, List.of());
	}

	private LiveWindows(@Nullable LiveWindows shared, List<LiveWindow> own) {
		this.shared = shared;
		this.own = own;
		this.merged = new Merged(List.of(), merged(own));
	}

	/**
	 * Replaces the windows.
	 * @param windows what live callers are given; may name a window several times
	 */
	public void set(Collection<LiveWindow> windows) {
		List<LiveWindow> fresh = merged(windows);
		if (!fresh.equals(this.merged.all())) {
			this.merged = new Merged(List.of(), fresh);
		}
	}

	/**
	 * The same windows, now and later, and those of quotas that only some counters have.
	 */
	public LiveWindows with(List<Quota> quotas) {
		return new LiveWindows(this, quotas.stream().map(LiveWindow::of).toList());
	}

	/**
	 * The windows of now, sorted; the same object until they change.
	 */
	public List<LiveWindow> current() {
		Merged merged = this.merged;
		if (this.shared == null) {
			return merged.all();
		}
		List<LiveWindow> shared = this.shared.current();
		if (merged.of() != shared) {
			merged = new Merged(shared, merged(Stream.concat(shared.stream(), this.own.stream()).toList()));
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
