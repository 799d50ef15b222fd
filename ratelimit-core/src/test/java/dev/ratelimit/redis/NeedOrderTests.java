package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;

import static org.assertj.core.api.Assertions.assertThat;

class NeedOrderTests {

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.USER), "10/m"));

	@Test
	void callThatMostRequestsNeedIsFirst() {
		assertThat(sorted(call(1, "ann"), call(30, "bob"), call(4, "cid"))).containsExactly("30 bob", "4 cid", "1 ann");
	}

	@Test
	void callsThatAreNeededEquallyKeepTheirOrder() {
		assertThat(sorted(call(2, "ann"), call(2, "bob"), call(2, "cid"))).containsExactly("2 ann", "2 bob", "2 cid");
		assertThat(sorted(call(2, "ann"), call(3, "bob"), call(2, "cid"))).containsExactly("3 bob", "2 ann", "2 cid");
	}

	@Test
	void noCallOvertakesAnEarlierOneForTheSameCounter() {
		assertThat(sorted(call(1, "ann"), call(2, "bob"), call(30, "ann"))).containsExactly("2 bob", "1 ann", "30 ann");
	}

	@Test
	void noCallOvertakesAnEarlierOneForOneOfItsCounters() {
		assertThat(sorted(call(1, "ann"), call(9, "ann", "bob"), call(30, "bob"), call(5, "cid")))
			.containsExactly("5 cid", "1 ann", "9 ann bob", "30 bob");
	}

	private static List<String> sorted(NodeCall... calls) {
		for (int i = 1; i < calls.length; i++) {
			calls[i - 1].next(calls[i]);
		}
		List<String> sorted = new ArrayList<>();
		for (NodeCall call = NeedOrder.sort(calls[0]); call != null; call = call.next()) {
			sorted.add(call.toString());
		}
		return sorted;
	}

	private static NodeCall call(int need, String... keys) {
		return new NodeCall(Arrays.stream(keys).map((key) -> new Counter(SPEC, key)).toList(), Permits.exactly(1), 0,
				Duration.ofSeconds(1)) {

			@Override
			public int need() {
				return need;
			}

			@Override
			public void answered(Grant grant) {
				throw new IllegalStateException("not sent");
			}

			@Override
			public void failed(UnansweredException failure) {
				throw new IllegalStateException("not sent");
			}

			@Override
			public String toString() {
				return need + " " + String.join(" ", keys);
			}

		};
	}

}
