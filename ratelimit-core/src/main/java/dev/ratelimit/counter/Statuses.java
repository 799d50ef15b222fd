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
 * other, mean one status.
 */
final class Statuses extends AbstractList<LimitStatus> implements RandomAccess {

	private final List<Reading> readings;

	private final long least;

	private final long granted;

	private volatile @Nullable List<LimitStatus> statuses;

	Statuses(List<Reading> readings, long least, long granted) {
		this.readings = readings;
		this.least = least;
		this.granted = granted;
	}

	@Override
	public LimitStatus get(int index) {
		return statuses().get(index);
	}

	@Override
	public int size() {
		int size = 0;
		for (int i = 0; i < this.readings.size(); i = endOfCounter(i)) {
			size += this.readings.get(i).counter().spec().limit().quotas().size();
		}
		return size;
	}

	private List<LimitStatus> statuses() {
		List<LimitStatus> statuses = this.statuses;
		if (statuses == null) {
			statuses = new ArrayList<>(this.readings.size() * 2);
			for (int i = 0; i < this.readings.size(); i = endOfCounter(i)) {
				Reading reading = this.readings.get(i);
				if (reading.counter().spec().whole() == null) {
					reading.describe(this.least, this.granted, statuses);
				}
				else {
					new PartReadings(this.readings.subList(i, endOfCounter(i))).describe(this.least, this.granted,
							statuses);
				}
			}
			this.statuses = statuses;
		}
		return statuses;
	}

	/** Where the readings of the next counter begin. */
	private int endOfCounter(int start) {
		Counter counter = this.readings.get(start).counter();
		int end = start + 1;
		while (end < this.readings.size() && this.readings.get(end).counter().isPartOfTheSameAs(counter)) {
			end++;
		}
		return end;
	}

}
