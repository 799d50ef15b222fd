package dev.ratelimit.counter;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.RandomAccess;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.LimitStatus;

/**
 * What a grant means for each quota, worked out when somebody looks. Most decisions are
 * only asked whether they allow. Readings of parts of one counter, which follow each
 * other, mean one status; so do those of a counter and of the one whose place it takes,
 * the stricter of both.
 */
final class Statuses extends AbstractList<LimitStatus> implements RandomAccess {

	private final List<Reading> readings;

	private final long least;

	private final long granted;

	/** Whether some counters are there twice, as they are now and as they were. */
	private final boolean turned;

	private volatile @Nullable List<LimitStatus> statuses;

	Statuses(List<Reading> readings, long least, long granted) {
		this.readings = readings;
		this.least = least;
		this.granted = granted;
		this.turned = turned(readings);
	}

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
		if (this.turned) {
			return statuses().size();
		}
		int size = 0;
		for (int i = 0; i < this.readings.size(); i = endOfCounter(this.readings, i)) {
			size += this.readings.get(i).counter().spec().limit().quotas().size();
		}
		return size;
	}

	private List<LimitStatus> statuses() {
		List<LimitStatus> statuses = this.statuses;
		if (statuses == null) {
			statuses = this.turned ? merged(describe(only(false)), describe(only(true))) : describe(this.readings);
			this.statuses = statuses;
		}
		return statuses;
	}

	private List<Reading> only(boolean old) {
		return this.readings.stream().filter((reading) -> reading.counter().isOld() == old).toList();
	}

	private List<LimitStatus> describe(List<Reading> readings) {
		List<LimitStatus> statuses = new ArrayList<>(readings.size() * 2);
		for (int i = 0; i < readings.size(); i = endOfCounter(readings, i)) {
			Reading reading = readings.get(i);
			if (reading.counter().spec().whole() == null) {
				reading.describe(this.least, this.granted, statuses);
			}
			else {
				new PartReadings(readings.subList(i, endOfCounter(readings, i))).describe(this.least, this.granted,
						statuses);
			}
		}
		return statuses;
	}

	/** Where the readings of the next counter begin. */
	private static int endOfCounter(List<Reading> readings, int start) {
		Counter counter = readings.get(start).counter();
		int end = start + 1;
		while (end < readings.size() && readings.get(end).counter().isPartOfTheSameAs(counter)) {
			end++;
		}
		return end;
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

}
