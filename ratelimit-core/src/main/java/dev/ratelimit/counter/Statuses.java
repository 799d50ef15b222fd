package dev.ratelimit.counter;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.RandomAccess;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.LimitStatus;

/**
 * The status of each quota of a grant, computed on first use: most decisions are only
 * asked whether they allow. A counter and the one of the previous epoch have one status,
 * the stricter of both.
 */
public class Statuses extends AbstractList<LimitStatus> implements RandomAccess {

	private final Grant grant;

	private volatile @Nullable List<LimitStatus> statuses;

	protected Statuses(Grant grant) {
		this.grant = grant;
	}

	/**
	 * The same statuses of a refusal, with waits of at least this many microseconds.
	 */
	public Statuses waiting(long leastMicros) {
		return new LongerWaits(this.grant, leastMicros);
	}

	protected final Grant grant() {
		return this.grant;
	}

	/**
	 * The counters as they were read.
	 */
	public final List<Reading> readings() {
		return this.grant.readings();
	}

	/**
	 * The counter that refused, {@code null} if none did. Of several that have too few
	 * permits it is the first.
	 */
	public @Nullable Counter refusing() {
		List<Reading> readings = this.grant.readings();
		for (int i = 0; this.grant.refused() && i < readings.size(); i++) {
			Reading reading = readings.get(i);
			if (readings.size() == 1 || reading.lacks(this.grant.wanted().least())) {
				return reading.counter();
			}
		}
		return null;
	}

	/**
	 * The counters that have too few permits for a refused request. Of a limit it is one:
	 * the counter of the previous epoch only if that of the current one has enough.
	 */
	public List<Reading> lacking() {
		List<Reading> lacking = this.grant.refused() ? this.grant.readings()
			.stream()
			.filter((reading) -> reading.lacks(this.grant.wanted().least()))
			.toList() : List.of();
		return turned(lacking) ? lacking.stream()
			.filter((reading) -> !reading.counter().isOld() || only(lacking, false).stream()
				.noneMatch((current) -> current.counter().spec().limit().equals(reading.counter().spec().limit())))
			.toList() : lacking;
	}

	/** Whether some counters are there twice, of this epoch and of the previous one. */
	private static boolean turned(List<Reading> readings) {
		for (int i = 0; i < readings.size(); i++) {
			if (readings.get(i).counter().isOld()) {
				return true;
			}
		}
		return false;
	}

	@Override
	public LimitStatus get(int index) {
		return statuses().get(index);
	}

	@Override
	public int size() {
		return statuses().size();
	}

	private List<LimitStatus> statuses() {
		List<LimitStatus> statuses = this.statuses;
		if (statuses == null) {
			statuses = describe();
			this.statuses = statuses;
		}
		return statuses;
	}

	List<LimitStatus> describe() {
		List<Reading> readings = this.grant.readings();
		return turned(readings) ? merged(describe(only(readings, false)), describe(only(readings, true)))
				: describe(readings);
	}

	private static List<Reading> only(List<Reading> readings, boolean old) {
		return readings.stream().filter((reading) -> reading.counter().isOld() == old).toList();
	}

	private List<LimitStatus> describe(List<Reading> readings) {
		List<LimitStatus> statuses = new ArrayList<>(readings.size() * 2);
		for (Reading reading : readings) {
			reading.describe(this.grant.wanted().least(), this.grant.permits(), statuses);
		}
		return statuses;
	}

	private static List<LimitStatus> merged(List<LimitStatus> statuses, List<LimitStatus> old) {
		for (LimitStatus other : old) {
			int same = 0;
			while (same < statuses.size() && !isSame(statuses.get(same), other)) {
				same++;
			}
			if (same < statuses.size()) {
				statuses.set(same, stricter(statuses.get(same), other));
			}
			else {
				statuses.add(other);
			}
		}
		return statuses;
	}

	private static boolean isSame(LimitStatus one, LimitStatus other) {
		return one.limit().name().equals(other.limit().name()) && one.quota().equals(other.quota());
	}

	private static LimitStatus stricter(LimitStatus one, LimitStatus other) {
		LimitStatus fewer = (other.remaining() < one.remaining()) ? other : one;
		long retry = (one.neverFits() || other.neverFits()) ? LimitStatus.NEVER
				: Math.max(one.retryAfterMicros(), other.retryAfterMicros());
		return new LimitStatus(one.limit(), one.quota(), fewer.remaining(),
				Math.max(one.resetAfterMicros(), other.resetAfterMicros()), retry, fewer.nextAfterMicros());
	}

	/** A class of its own, so that other decisions do not carry its number. */
	private static final class LongerWaits extends Statuses {

		private final long leastMicros;

		LongerWaits(Grant grant, long leastMicros) {
			super(grant);
			this.leastMicros = leastMicros;
		}

		@Override
		List<LimitStatus> describe() {
			List<LimitStatus> statuses = super.describe();
			statuses.replaceAll((status) -> status.waiting(this.leastMicros));
			return statuses;
		}

	}

}
