package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.Shards;
import dev.ratelimit.counter.UnansweredException;

/**
 * Shards that answer when the test says so. A counter's key is {@code node/slot/name}.
 */
final class HandDrivenShards implements Shards {

	final List<Call> calls = new ArrayList<>();

	final List<String> givenBack = new ArrayList<>();

	/** What every call is answered with at once, {@code null} to wait for the test. */
	Decision.Reason failing;

	static Counter counter(String key) {
		Limit limit = Limit.of("per-" + key.replace('/', '-'), List.of(Dimension.USER), "10/m");
		return new Counter(new CounterSpec(Algorithm.GCRA, limit), key);
	}

	@Override
	public int slot(Counter counter) {
		return Integer.parseInt(counter.key().split("/")[1]);
	}

	@Override
	public String node(Counter counter) {
		return counter.key().split("/")[0];
	}

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		Call call = new Call(counters, permits, new CompletableFuture<>());
		this.calls.add(call);
		if (this.failing != null) {
			call.fail(this.failing);
		}
		return call.answer;
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		grant.readings().forEach((reading) -> this.givenBack.add(reading.counter().key() + " " + permits));
		return CompletableFuture.completedStage(null);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return CompletableFuture.completedStage(null);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	record Call(List<Counter> counters, Permits permits, CompletableFuture<Grant> answer) {

		void grant(long granted) {
			long now = System.currentTimeMillis() * 1_000;
			this.answer.complete(new Grant(this.permits, granted,
					this.counters.stream().map((counter) -> new Reading(counter, new long[0], now)).toList(),
					Decision.Source.REDIS));
		}

		void fail(Decision.Reason reason) {
			this.answer.completeExceptionally(new UnansweredException(reason, reason.text()));
		}

	}

}
