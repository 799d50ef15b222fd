package dev.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.testing.Stages.join;
import static dev.ratelimit.redis.RedisCountersIntegrationTests.counter;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that no call can hold.
 */
class LaneIntegrationTests {

	private final RedisCounters counters = Connections.standalone();

	@Test
	void requestForMoreThan255CountersIsAnErrorOfItsOwn() {
		CompletionStage<Grant> tooMany = this.counters.acquire(users(256), Permits.exactly(1));
		CompletionStage<Grant> neighbour = this.counters.acquire(users(1), Permits.exactly(1));
		assertThat(unanswered(tooMany).cause()).hasCauseInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("255");
		assertThat(join(neighbour).permits()).isOne();
		assertThat(join(this.counters.acquire(users(1), Permits.NONE)).statuses().get(0).remaining()).isEqualTo(8);
	}

	@Test
	void requestFor255CountersIsDecided() {
		assertThat(join(this.counters.acquire(users(255), Permits.exactly(1))).readings()).hasSize(255);
	}

	@Test
	void requestForNoCounterIsAnErrorOfItsOwn() {
		assertThat(unanswered(this.counters.acquire(List.of(), Permits.exactly(1))).cause())
			.hasCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void givingBackToMoreCountersThanACallHasIsDoneInSeveral() {
		Grant grant = join(this.counters.acquire(users(255), Permits.exactly(1)));
		join(this.counters.giveBack(grant, 1));
		assertThat(join(this.counters.acquire(users(255), Permits.NONE)).statuses())
			.allSatisfy((status) -> assertThat(status.remaining()).isEqualTo(9));
	}

	private static List<Counter> users(int count) {
		return IntStream.range(0, count).mapToObj((i) -> counter(Algorithm.GCRA, "user-" + i, "9/d")).toList();
	}

}
