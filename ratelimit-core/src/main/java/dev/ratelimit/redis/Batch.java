package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Work;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * Requests that share one script call, which decides them in the order of their arrival.
 *
 * <p>
 * Requests for the same number of permits of the same counters become one entry, "as many
 * whole multiples as fit", unless another request in between wants one of these counters.
 * So the entry decides as if each request were alone. Its permits are handed out in the
 * order of arrival.
 */
final class Batch {

	private final List<Group> groups = new ArrayList<>();

	/** The last entry of each counter. */
	private final Map<Counter, Group> last = new HashMap<>();

	private final long kind;

	/** Of all entries. */
	private int work;

	/**
	 * @param kind slot and algorithm of its requests
	 */
	Batch(NodeCall first, long kind) {
		this.kind = kind;
		this.work = work(first);
		add(first);
	}

	long kind() {
		return this.kind;
	}

	/**
	 * Adds a request of the same kind if there is room. A request that may be sent again
	 * has a call of its own.
	 */
	boolean offer(NodeCall request) {
		if (request.attempt() != null || attempt() != null) {
			return false;
		}
		Group group = mergeable(request);
		if (group != null) {
			group.requests.add(request);
			return true;
		}
		int work = this.work + work(request);
		if (work > Work.OF_A_CALL || this.last.size() + request.counters().size() > ScriptCall.MAX_COUNTERS) {
			return false;
		}
		this.work = work;
		add(request);
		return true;
	}

	/**
	 * How much Redis has to do for the call, see {@link Work}.
	 */
	int work() {
		return this.work;
	}

	private @Nullable Attempt attempt() {
		return this.groups.get(0).requests.get(0).attempt();
	}

	ScriptCall call() {
		Attempt attempt = attempt();
		if (attempt != null) {
			return new AttemptCall(this.groups.get(0).entry(), attempt);
		}
		List<ScriptCall.Entry> entries = new ArrayList<>(this.groups.size());
		for (Group group : this.groups) {
			entries.add(group.entry());
		}
		return new ScriptCall(entries);
	}

	void answer(List<ScriptCall.Outcome> outcomes) {
		long now = System.nanoTime();
		for (int i = 0; i < this.groups.size(); i++) {
			this.groups.get(i).handOut(outcomes.get(i), now);
		}
	}

	void fail(Throwable failure) {
		for (Group group : this.groups) {
			group.requests.forEach((request) -> request.fail(failure));
		}
	}

	/**
	 * A batch for each request, {@code null} if there is only one request.
	 */
	@Nullable List<Batch> singly() {
		List<Batch> singly = new ArrayList<>();
		for (Group group : this.groups) {
			group.requests.forEach((request) -> singly.add(new Batch(request, this.kind)));
		}
		return (singly.size() > 1) ? singly : null;
	}

	private @Nullable Group mergeable(NodeCall request) {
		Group group = this.last.get(request.counters().get(0));
		if (group == null || !merges(group.requests.get(0), request)) {
			return null;
		}
		for (Counter counter : request.counters()) {
			if (this.last.get(counter) != group) {
				return null;
			}
		}
		return group;
	}

	/** How much Redis has to do for a request, see {@link Work}. */
	private static int work(NodeCall request) {
		int work = 0;
		for (Counter counter : request.counters()) {
			work += (request.since() > 0)
					? Work.ofGiveBack(counter.spec().algorithm(), counter.spec().limit().quotas().size())
					: counter.spec().work();
		}
		return work;
	}

	/**
	 * Whether one entry for both, in whole multiples, decides the same as one for each.
	 */
	private static boolean merges(NodeCall one, NodeCall other) {
		Permits permits = one.permits();
		if (one.since() != 0 || other.since() != 0 || permits.unit() == 0 || permits.unit() != permits.most()
				|| !permits.equals(other.permits()) || one.counters().size() != other.counters().size()) {
			return false;
		}
		for (int i = 0; i < one.counters().size(); i++) {
			Counter counter = one.counters().get(i);
			if (counter.spec() != other.counters().get(i).spec() || !counter.equals(other.counters().get(i))) {
				return false;
			}
		}
		return true;
	}

	private void add(NodeCall request) {
		Group group = new Group(request);
		this.groups.add(group);
		for (Counter counter : request.counters()) {
			this.last.put(counter, group);
		}
	}

	/**
	 * Requests that share an entry, in the order of their arrival.
	 */
	private static final class Group {

		private final List<NodeCall> requests = new ArrayList<>(1);

		Group(NodeCall first) {
			this.requests.add(first);
		}

		ScriptCall.Entry entry() {
			NodeCall first = this.requests.get(0);
			Permits permits = first.permits();
			if (this.requests.size() > 1) {
				permits = new Permits(permits.unit(), permits.least(), permits.most() * this.requests.size());
			}
			return new ScriptCall.Entry(first.counters(), permits, first.since());
		}

		void handOut(ScriptCall.Outcome outcome, long now) {
			if (outcome.taken() < 0) {
				UnansweredException corrupt = UnansweredException
					.corrupt(this.requests.get(0).counters().get(0).spec());
				this.requests.forEach((request) -> request.fail(corrupt));
				return;
			}
			Permits permits = this.requests.get(0).permits();
			long left = outcome.taken();
			for (NodeCall request : this.requests) {
				long granted = (this.requests.size() == 1) ? left : Math.min(left, permits.most());
				left -= granted;
				request.replied(now);
				request.answered(new Grant(permits, granted, before(left, outcome.readings()), Decision.Source.REDIS));
			}
		}

		/** The readings of a request, without the permits that later ones took. */
		private static List<Reading> before(long takenLater, List<Reading> readings) {
			if (takenLater == 0) {
				return readings;
			}
			Reading[] before = new Reading[readings.size()];
			for (int i = 0; i < before.length; i++) {
				before[i] = readings.get(i).without(takenLater);
			}
			return List.of(before);
		}

	}

}
