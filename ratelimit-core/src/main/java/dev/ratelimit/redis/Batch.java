package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Work;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * Requests that go out as one script call, decided in the order in which they came.
 *
 * <p>
 * Those that want the same number of permits from the same counters become one entry, "as
 * many whole multiples as fit", as long as nobody who came in between wants any of these
 * counters: then the entry decides exactly what deciding one by one would. What it gets
 * is handed out in the order of arrival.
 */
final class Batch {

	private final List<Group> groups = new ArrayList<>();

	/** The last entry that wants something of a counter. */
	private final Map<Counter, Group> last = new HashMap<>();

	private int work;

	Batch(Waiting first) {
		add(first);
	}

	/**
	 * Takes a request in if there is room for it.
	 * @param request of the same slot and algorithm as the first
	 */
	boolean offer(Waiting request) {
		Group group = mergeable(request);
		if (group != null) {
			group.requests.add(request);
			return true;
		}
		if (this.work + request.work() > Work.OF_A_CALL
				|| this.last.size() + request.counters().size() > ScriptCall.MAX_COUNTERS) {
			return false;
		}
		add(request);
		return true;
	}

	ScriptCall call() {
		List<ScriptCall.Entry> entries = new ArrayList<>(this.groups.size());
		for (Group group : this.groups) {
			entries.add(group.entry());
		}
		return new ScriptCall(entries);
	}

	void answer(List<ScriptCall.Outcome> outcomes) {
		for (int i = 0; i < this.groups.size(); i++) {
			this.groups.get(i).handOut(outcomes.get(i));
		}
	}

	void fail(UnansweredException failure) {
		for (Group group : this.groups) {
			group.requests.forEach((request) -> request.completeExceptionally(failure));
		}
	}

	/**
	 * A call for each request, {@code null} if this is one already.
	 */
	@Nullable List<Batch> singly() {
		List<Batch> singly = new ArrayList<>();
		for (Group group : this.groups) {
			group.requests.forEach((request) -> singly.add(new Batch(request)));
		}
		return (singly.size() > 1) ? singly : null;
	}

	private @Nullable Group mergeable(Waiting request) {
		Group group = this.last.get(request.counters().get(0));
		if (group == null || !group.requests.get(0).merges(request)) {
			return null;
		}
		for (Counter counter : request.counters()) {
			if (this.last.get(counter) != group) {
				return null;
			}
		}
		return group;
	}

	private void add(Waiting request) {
		Group group = new Group(request);
		this.groups.add(group);
		for (Counter counter : request.counters()) {
			this.last.put(counter, group);
		}
		this.work += request.work();
	}

	/**
	 * Requests that share an entry, in the order of their arrival.
	 */
	private static final class Group {

		private final List<Waiting> requests = new ArrayList<>(1);

		Group(Waiting first) {
			this.requests.add(first);
		}

		ScriptCall.Entry entry() {
			Waiting first = this.requests.get(0);
			Permits permits = first.permits();
			if (this.requests.size() > 1) {
				permits = new Permits(permits.unit(), permits.least(), permits.most() * this.requests.size());
			}
			return new ScriptCall.Entry(first.counters(), permits, first.since());
		}

		void handOut(ScriptCall.Outcome outcome) {
			if (outcome.taken() < 0) {
				UnansweredException corrupt = UnansweredException
					.corrupt(this.requests.get(0).counters().get(0).spec());
				this.requests.forEach((request) -> request.completeExceptionally(corrupt));
				return;
			}
			Permits permits = this.requests.get(0).permits();
			long left = outcome.taken();
			for (Waiting request : this.requests) {
				long granted = (this.requests.size() == 1) ? left : Math.min(left, permits.most());
				left -= granted;
				request.complete(new Grant(permits, granted, before(left, outcome.readings()), Decision.Source.REDIS));
			}
		}

		/** The counters as they were before those behind took theirs. */
		private static List<Reading> before(long takenBehind, List<Reading> readings) {
			if (takenBehind == 0) {
				return readings;
			}
			Reading[] before = new Reading[readings.size()];
			for (int i = 0; i < before.length; i++) {
				before[i] = readings.get(i).without(takenBehind);
			}
			return List.of(before);
		}

	}

}
