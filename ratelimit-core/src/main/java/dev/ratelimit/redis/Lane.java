package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.UnansweredException;

/**
 * The way to one node. Requests that find nothing under way leave at once; what arrives
 * while {@value #MAX_ROUNDS} rounds are under way waits, and leaves as the next round:
 * one script call for each algorithm, in a cluster also for each slot, in one write. The
 * busier Redis is the more requests share a call, so that it gets cheaper the more of
 * them there are, and a lone one never waits for company.
 *
 * <p>
 * A counter has one slot and one algorithm, so requests for it are decided in the order
 * of their arrival.
 *
 * <p>
 * A round has its place until it is answered or until nobody waits for it any more: a
 * node that is silent does not hold up those who ask later. Requests whose time is over
 * before they have left are not sent.
 *
 * <p>
 * Whatever is thrown on the way fails the requests that it happened to, and nothing else:
 * no throwable may end the one thread that sends while others rely on it.
 */
final class Lane {

	private static final int MAX_ROUNDS = 2;

	/** How many calls a round has at most; each is bounded by its work. */
	private static final int MAX_CALLS = 64;

	private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();

	/** Whoever makes it more than 0 is the one to send, until it is 0 again. */
	private final AtomicInteger wanted = new AtomicInteger();

	/** The rounds under way; used by the one who sends. */
	private final @Nullable Round[] rounds = new Round[MAX_ROUNDS];

	private final ToIntFunction<Waiting> slot;

	private final Sender sender;

	/**
	 * Creates a lane.
	 * @param slot what requests of one algorithm must have in common to share a call
	 * @param sender sends calls
	 */
	Lane(ToIntFunction<Waiting> slot, Sender sender) {
		this.slot = slot;
		this.sender = sender;
	}

	void enter(Waiting request) {
		this.waiting.add(request);
		drain();
	}

	/**
	 * Lets requests in that may leave together.
	 */
	void enter(List<Waiting> requests) {
		this.waiting.addAll(requests);
		drain();
	}

	/**
	 * Whether nobody waits to be sent.
	 */
	boolean isIdle() {
		return this.wanted.get() == 0 && this.waiting.isEmpty();
	}

	private void drain() {
		if (this.wanted.getAndIncrement() > 0) {
			return;
		}
		int seen = 1;
		do {
			try {
				sendRounds();
			}
			catch (Throwable ex) {
				failWaiting(UnansweredException.of(ex));
			}
			seen = this.wanted.addAndGet(-seen);
		}
		while (seen > 0);
	}

	private void sendRounds() {
		while (!this.waiting.isEmpty()) {
			int place = place(System.nanoTime());
			if (place < 0) {
				return;
			}
			Round round = new Round();
			this.rounds[place] = round;
			round.fill(System.nanoTime());
			round.send();
		}
	}

	/** A place that is free, or whose round nobody waits for any more. */
	private int place(long now) {
		for (int i = 0; i < MAX_ROUNDS; i++) {
			Round round = this.rounds[i];
			if (round == null || round.isOver(now)) {
				return i;
			}
		}
		return -1;
	}

	private void failWaiting(UnansweredException failure) {
		for (Waiting next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
			next.completeExceptionally(failure);
		}
	}

	/**
	 * Sends calls to the node.
	 */
	interface Sender {

		CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call);

		/**
		 * Sends calls together. A call that cannot be sent is a failed stage, and the
		 * others are sent.
		 * @return the answer to each call
		 */
		default List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
			List<CompletionStage<List<ScriptCall.Outcome>>> answers = new ArrayList<>(calls.size());
			for (ScriptCall call : calls) {
				answers.add(attempt(call));
			}
			return answers;
		}

		/**
		 * Sends a call, or says by a failed stage that it could not be sent.
		 */
		default CompletionStage<List<ScriptCall.Outcome>> attempt(ScriptCall call) {
			try {
				return Objects.requireNonNull(send(call), "a call has no answer");
			}
			catch (Throwable ex) {
				return CompletableFuture.failedStage(ex);
			}
		}

	}

	/**
	 * Calls that leave together.
	 */
	private final class Round {

		private final List<Batch> batches = new ArrayList<>(1);

		private final AtomicInteger unanswered = new AtomicInteger();

		private long deadline;

		void fill(long now) {
			Map<Long, Batch> open = new HashMap<>();
			for (Waiting next = Lane.this.waiting.peek(); next != null; next = Lane.this.waiting.peek()) {
				try {
					if (next.isOver(now)) {
						next.completeExceptionally(new UnansweredException(Decision.Reason.TIMEOUT, "waited too long"));
					}
					else if (!add(next, open)) {
						break;
					}
				}
				catch (Throwable ex) {
					next.completeExceptionally(UnansweredException.of(ex));
				}
				Lane.this.waiting.poll();
			}
		}

		private boolean add(Waiting request, Map<Long, Batch> open) {
			long kind = kind(request);
			Batch batch = open.get(kind);
			if (batch == null || !batch.offer(request)) {
				if (this.batches.size() == MAX_CALLS) {
					return false;
				}
				batch = new Batch(request);
				this.batches.add(batch);
				open.put(kind, batch);
				this.deadline = (this.batches.size() == 1) ? request.deadline() : this.deadline;
			}
			if (request.deadline() - this.deadline > 0) {
				this.deadline = request.deadline();
			}
			return true;
		}

		/** What requests must have in common to share a call. */
		private long kind(Waiting request) {
			return (long) Lane.this.slot.applyAsInt(request) << Byte.SIZE | request.algorithm().ordinal();
		}

		void send() {
			this.unanswered.set(this.batches.size());
			if (this.batches.size() == 1) {
				sendAlone(this.batches.get(0), this::answered);
			}
			else if (!this.batches.isEmpty()) {
				sendTogether();
			}
		}

		private void sendTogether() {
			List<Batch> sent = new ArrayList<>(this.batches.size());
			List<ScriptCall> calls = new ArrayList<>(this.batches.size());
			for (Batch batch : this.batches) {
				try {
					calls.add(batch.call());
					sent.add(batch);
				}
				catch (Throwable ex) {
					await(batch, CompletableFuture.failedStage(ex), this::answered);
				}
			}
			List<CompletionStage<List<ScriptCall.Outcome>>> answers;
			try {
				answers = Lane.this.sender.send(calls);
			}
			catch (Throwable ex) {
				answers = Collections.nCopies(sent.size(), CompletableFuture.failedStage(ex));
			}
			for (int i = 0; i < answers.size(); i++) {
				await(sent.get(i), answers.get(i), this::answered);
			}
		}

		private void sendAlone(Batch batch, Runnable done) {
			CompletionStage<List<ScriptCall.Outcome>> answer;
			try {
				answer = Lane.this.sender.attempt(batch.call());
			}
			catch (Throwable ex) {
				answer = CompletableFuture.failedStage(ex);
			}
			await(batch, answer, done);
		}

		boolean isOver(long now) {
			return this.unanswered.get() == 0 || now - this.deadline > 0;
		}

		private void answered() {
			if (this.unanswered.decrementAndGet() == 0) {
				drain();
			}
		}

		private void await(Batch batch, CompletionStage<List<ScriptCall.Outcome>> answer, Runnable done) {
			answer.whenComplete((outcomes, failure) -> {
				try {
					if (failure == null) {
						batch.answer(outcomes);
					}
					else {
						failed(batch, UnansweredException.of(failure));
					}
				}
				catch (Throwable ex) {
					batch.fail(UnansweredException.of(ex));
				}
				done.run();
			});
		}

		/**
		 * While a slot moves, keys of a call may be on both sides. Requests that share a
		 * call do not have to share that fate.
		 */
		private void failed(Batch batch, UnansweredException failure) {
			List<Batch> singly = (failure.reason() == Decision.Reason.RESHARDING) ? batch.singly() : null;
			if (singly == null) {
				batch.fail(failure);
				return;
			}
			for (Batch single : singly) {
				sendAlone(single, () -> {
				});
			}
		}

	}

}
