package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.NodeCounters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * NodeCounters that answer when the test says so. A counter's key is
 * {@code node/slot/name}.
 */
final class HandDrivenNodes implements NodeCounters {

	final List<Call> calls = new ArrayList<>();

	/** Attempts at corrections, which the test answers. */
	final BlockingQueue<CorrectionAttempt> attempts = new LinkedBlockingQueue<>();

	final List<String> givenBack = new ArrayList<>();

	/** What every call is answered with at once, {@code null} to wait for the test. */
	Decision.Reason failing;

	/** Whether calls are sent, or wait in this process. */
	boolean sends = true;

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
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		acquire(node(counters.get(0)), new NodeCall(counters, permits, 0, timeout) {

			@Override
			public void answered(Grant grant) {
				answer.accept(grant);
			}

			@Override
			public void failed(UnansweredException failure) {
				answer.accept(Grant.unanswered(permits, counters, failure));
			}

		});
	}

	@Override
	public void acquire(String node, NodeCall asked) {
		if (this.sends) {
			asked.sent(System.nanoTime());
		}
		Call call = new Call(asked);
		this.calls.add(call);
		if (this.failing != null) {
			call.fail(this.failing);
		}
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		grant.readings().forEach((reading) -> this.givenBack.add(reading.counter().key() + " " + permits));
		return CompletableFuture.completedStage(null);
	}

	@Override
	public CompletionStage<Corrected> settle(Correction correction, long last) {
		CorrectionAttempt attempt = new CorrectionAttempt(correction, last, new CompletableFuture<>());
		this.attempts.add(attempt);
		return attempt.answer();
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return CompletableFuture.completedStage(null);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	record CorrectionAttempt(Correction correction, long last, CompletableFuture<Corrected> answer) {
	}

	record Call(NodeCall asked) {

		void grant(long granted) {
			long now = System.currentTimeMillis() * 1_000;
			this.asked.answered(new Grant(this.asked.permits(), granted,
					this.asked.counters().stream().map((counter) -> new Reading(counter, new long[0], now)).toList(),
					Decision.Source.REDIS));
		}

		void fail(Decision.Reason reason) {
			this.asked.failed(new UnansweredException(reason, reason.text()));
		}

	}

}
