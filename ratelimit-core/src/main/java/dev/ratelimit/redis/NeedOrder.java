package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.NodeCall;

/**
 * The order in which calls leave that have waited for a node: those that most requests
 * need first, such as the lease of a counter that many wait for.
 *
 * <p>
 * No call overtakes an earlier one for the same counter: a call counts as needed by no
 * more requests than any earlier call that names one of its counters. Calls that are
 * needed equally keep their order. Only calls that have arrived together are sorted, so
 * none waits for ever.
 */
final class NeedOrder {

	private NeedOrder() {
	}

	/**
	 * Sorts linked calls.
	 * @param oldest the first of them, in the order of their arrival
	 * @return the first of them, in the order of need
	 */
	static NodeCall sort(NodeCall oldest) {
		List<Placed> calls = new ArrayList<>();
		boolean sorted = true;
		for (NodeCall call = oldest; call != null; call = call.next()) {
			int need = call.need();
			sorted &= calls.isEmpty() || need == calls.get(calls.size() - 1).need;
			calls.add(new Placed(call, need));
		}
		if (sorted) {
			return oldest;
		}
		Map<Counter, Integer> most = new HashMap<>();
		for (int i = 0; i < calls.size(); i++) {
			calls.set(i, calls.get(i).behind(most));
		}
		calls.sort(Comparator.comparingInt((Placed placed) -> placed.need).reversed());
		NodeCall next = null;
		for (int i = calls.size() - 1; i >= 0; i--) {
			NodeCall call = calls.get(i).call;
			call.next(next);
			next = call;
		}
		return calls.get(0).call;
	}

	private record Placed(NodeCall call, int need) {

		/** No more needed than the earlier calls for the same counters. */
		Placed behind(Map<Counter, Integer> earlier) {
			int least = this.need;
			for (Counter counter : this.call.counters()) {
				least = Math.min(least, earlier.getOrDefault(counter, Integer.MAX_VALUE));
			}
			for (Counter counter : this.call.counters()) {
				earlier.put(counter, least);
			}
			return new Placed(this.call, least);
		}

	}

}
