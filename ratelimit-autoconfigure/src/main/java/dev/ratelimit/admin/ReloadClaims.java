package dev.ratelimit.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

import dev.ratelimit.Sha256;

/**
 * Names the changes of reloads, so that instances that make the same change use the same
 * name. A change that an instance makes again soon has a new name. Only repeats within
 * the time of a claim are counted, so that instances of different ages agree.
 */
final class ReloadClaims {

	private static final int REMEMBERED = 1_000;

	private final LongSupplier nanos;

	private final Map<String, Made> made = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Made> eldest) {
			return size() > REMEMBERED;
		}

	};

	ReloadClaims(LongSupplier nanos) {
		this.nanos = nanos;
	}

	/** The name of a change that is made now. */
	synchronized String of(String change) {
		String digest = Sha256.hex(change);
		long now = this.nanos.getAsLong();
		Made made = this.made.merge(digest, new Made(1, now), (before, first) -> before.again(now));
		return "reload:" + digest + ':' + made.times();
	}

	/**
	 * A change.
	 *
	 * @param times how often it was made, each within the time of a claim after the one
	 * before
	 * @param at when it was made last
	 */
	private record Made(int times, long at) {

		Made again(long now) {
			return new Made((now - this.at > AuditWriter.CLAIM.toNanos()) ? 1 : this.times + 1, now);
		}

	}

}
