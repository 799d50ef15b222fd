package dev.ratelimit.app.fault;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** What callers saw in one phase. */
final class Calls {

	private final Map<Answer, LongAdder> answers = new ConcurrentHashMap<>();

	private final Latencies latencies = new Latencies();

	private final LongAdder failed = new LongAdder();

	private final LongAdder unsent = new LongAdder();

	void answered(Answer answer, long nanos) {
		this.answers.computeIfAbsent(answer, (key) -> new LongAdder()).increment();
		this.latencies.record(nanos);
	}

	void failed() {
		this.failed.increment();
	}

	void unsent() {
		this.unsent.increment();
	}

	void add(Calls other) {
		other.answers.forEach(
				(answer, count) -> this.answers.computeIfAbsent(answer, (key) -> new LongAdder()).add(count.sum()));
		this.latencies.add(other.latencies);
		this.failed.add(other.failed.sum());
		this.unsent.add(other.unsent.sum());
	}

	/** Calls that were answered or failed by now. */
	long sent() {
		return answered((answer) -> true) + failures();
	}

	long admitted() {
		return answered(Answer::admitted);
	}

	long refused() {
		return answered(Answer::refused);
	}

	long serverErrors() {
		return answered(Answer::serverError);
	}

	/** Calls without an answer: the connection broke or nothing came in time. */
	long failures() {
		return this.failed.sum();
	}

	/**
	 * Calls that were not made because too many were waiting already: the gateway was far
	 * too slow for the rate.
	 */
	long notSent() {
		return this.unsent.sum();
	}

	long status(IntPredicate statuses) {
		return answered((answer) -> statuses.test(answer.status()));
	}

	long answered(Predicate<Answer> answers) {
		return this.answers.entrySet()
			.stream()
			.filter((entry) -> answers.test(entry.getKey()))
			.mapToLong((entry) -> entry.getValue().sum())
			.sum();
	}

	/** From when the call was due, so that a stall counts for all that it delayed. */
	Latencies latencies() {
		return this.latencies;
	}

	@Override
	public String toString() {
		return this.answers + ", failed " + this.failed + ", not sent " + this.unsent;
	}

}
