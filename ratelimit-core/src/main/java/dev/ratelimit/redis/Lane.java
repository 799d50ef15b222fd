package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.UnansweredException;

/**
 * Sends requests to one node. A request is sent at once unless {@value #MAX_ROUNDS}
 * rounds are under way. Requests that arrive during these wait and form the next round:
 * one script call for each algorithm, in a cluster also for each slot, in one write. So
 * the busier the node is, the more requests share a call, and a request on an idle node
 * never waits.
 *
 * <p>
 * A counter has one slot and one algorithm, so its requests are decided in the order of
 * their arrival. Calls for other counters may be sent earlier, see {@link NeedOrder}.
 *
 * <p>
 * A round ends when it is answered or all its requests have timed out, so a silent node
 * holds up later requests for one deadline, or for the patience of a lease in the round,
 * which is 100 ms by default. Requests that time out while they wait are not sent, and a
 * round is no larger than the node answers in time, see {@link RoundSize}.
 *
 * <p>
 * A throwable fails the requests that caused it and no others. It never ends the loop
 * that sends, since other threads rely on it.
 */
final class Lane {

	private static final int MAX_ROUNDS = 2;

	/** Largest number of calls of a round. The work of each call is bounded too. */
	private static final int MAX_CALLS = 64;

	private static final UnansweredException WAITED_TOO_LONG = new UnansweredException(Decision.Reason.SATURATED,
			"the deadline passed before the check could be sent");

	/** A stack of the requests that have arrived, the newest first. */
	private final AtomicReference<@Nullable NodeCall> arrived = new AtomicReference<>();

	/**
	 * Requests to be sent next, in their order; used by the sending thread only. All of
	 * them arrived before those on the stack.
	 */
	private @Nullable NodeCall waiting;

	/** Calls of {@link #drain}. The thread that raises it from 0 sends until it is 0. */
	private final AtomicInteger wanted = new AtomicInteger();

	/** The rounds under way; used by the sending thread only. */
	private final @Nullable Round[] rounds = new Round[MAX_ROUNDS];

	private final RoundSize size = new RoundSize();

	private final boolean cluster;

	private final CallSender sender;

	private final LongSupplier nanos;

	/**
	 * @param cluster whether requests share a call only if they have the same slot
	 */
	Lane(boolean cluster, CallSender sender) {
		this(cluster, sender, System::nanoTime);
	}

	/**
	 * @param nanos the clock of the requests' deadlines
	 */
	Lane(boolean cluster, CallSender sender, LongSupplier nanos) {
		this.cluster = cluster;
		this.sender = sender;
		this.nanos = nanos;
	}

	void enter(NodeCall request) {
		push(request);
		drain();
	}

	/** Adds requests that may share a round. */
	void enter(List<NodeCall> requests) {
		requests.forEach(this::push);
		drain();
	}

	private void push(NodeCall request) {
		NodeCall newest;
		do {
			newest = this.arrived.get();
			request.next(newest);
		}
		while (!this.arrived.compareAndSet(newest, request));
	}

	/** The next request to be sent. */
	private @Nullable NodeCall peek() {
		if (this.waiting == null) {
			NodeCall newest = this.arrived.getAndSet(null);
			while (newest != null) {
				NodeCall older = newest.next();
				newest.next(this.waiting);
				this.waiting = newest;
				newest = older;
			}
			this.waiting = (this.waiting != null) ? NeedOrder.sort(this.waiting) : null;
		}
		return this.waiting;
	}

	private void remove(NodeCall oldest) {
		this.waiting = oldest.next();
		oldest.next(null);
	}

	boolean isIdle() {
		return this.wanted.get() == 0 && this.waiting == null && this.arrived.get() == null;
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
				failWaiting(ex);
			}
			seen = this.wanted.addAndGet(-seen);
		}
		while (seen > 0);
	}

	private void sendRounds() {
		while (peek() != null) {
			int place = place(this.nanos.getAsLong());
			if (place < 0) {
				return;
			}
			Round round = new Round();
			this.rounds[place] = round;
			round.fill(round.sent);
			round.send();
		}
	}

	/** A free place, or one whose requests have all timed out. */
	private int place(long now) {
		for (int i = 0; i < MAX_ROUNDS; i++) {
			Round round = this.rounds[i];
			if (round == null || round.isOver(now)) {
				if (round != null && !round.isAnswered()) {
					this.size.lost();
				}
				return i;
			}
		}
		return -1;
	}

	private void failWaiting(Throwable failure) {
		for (NodeCall next = peek(); next != null; next = peek()) {
			remove(next);
			next.fail(failure);
		}
	}

	/**
	 * Calls that leave together.
	 */
	private final class Round {

		private final List<Batch> batches = new ArrayList<>(1);

		private final AtomicInteger unanswered = new AtomicInteger();

		private long deadline;

		private int work;

		private final long sent = Lane.this.nanos.getAsLong();

		/** Of the most impatient request. */
		private long timeout = Long.MAX_VALUE;

		void fill(long now) {
			for (NodeCall next = peek(); next != null; next = peek()) {
				Throwable failure = null;
				try {
					if (next.deadline() - now < Lane.this.size.took() && Lane.this.size.isTooLate(next, now)) {
						failure = WAITED_TOO_LONG;
					}
					else if (!add(next)) {
						return;
					}
				}
				catch (Throwable ex) {
					failure = ex;
				}
				remove(next);
				if (failure != null) {
					next.fail(failure);
				}
				else {
					next.sent(now);
				}
			}
		}

		private boolean add(NodeCall request) {
			long kind = kind(request);
			Batch batch = newest(kind);
			int before = (batch != null) ? batch.work() : 0;
			if (this.work >= Lane.this.size.work()) {
				return false;
			}
			if (batch != null && batch.offer(request)) {
				this.work += batch.work() - before;
			}
			else if (this.batches.size() == MAX_CALLS) {
				return false;
			}
			else {
				batch = new Batch(request, kind);
				this.batches.add(batch);
				this.work += batch.work();
				this.deadline = (this.batches.size() == 1) ? request.deadline() : this.deadline;
			}
			this.timeout = Math.min(this.timeout, request.deadline() - request.start());
			if (request.deadline() - this.deadline > 0) {
				this.deadline = request.deadline();
			}
			return true;
		}

		/** The newest batch of a kind: any before it is full. */
		private @Nullable Batch newest(long kind) {
			for (int i = this.batches.size() - 1; i >= 0; i--) {
				if (this.batches.get(i).kind() == kind) {
					return this.batches.get(i);
				}
			}
			return null;
		}

		/**
		 * Requests share a call if they have the same slot, in a cluster, and algorithm.
		 */
		private long kind(NodeCall request) {
			Counter counter = request.counters().get(0);
			return (long) (Lane.this.cluster ? counter.slot() : 0) << Byte.SIZE | counter.spec().algorithm().ordinal();
		}

		void send() {
			this.unanswered.set(this.batches.size());
			send(this.batches, this::answered);
		}

		private void send(List<Batch> batches, Runnable done) {
			List<Batch> sent = new ArrayList<>(batches.size());
			List<ScriptCall> calls = new ArrayList<>(batches.size());
			for (Batch batch : batches) {
				try {
					calls.add(batch.call());
					sent.add(batch);
				}
				catch (Throwable ex) {
					await(batch, CompletableFuture.failedStage(ex), done);
				}
			}
			List<CompletionStage<List<ScriptCall.Outcome>>> answers;
			try {
				answers = (calls.size() == 1) ? List.of(Lane.this.sender.send(calls.get(0)))
						: Lane.this.sender.send(calls);
			}
			catch (Throwable ex) {
				answers = Collections.nCopies(sent.size(), CompletableFuture.failedStage(ex));
			}
			for (int i = 0; i < answers.size(); i++) {
				await(sent.get(i), answers.get(i), done);
			}
		}

		boolean isOver(long now) {
			return isAnswered() || now - this.deadline > 0;
		}

		boolean isAnswered() {
			return this.unanswered.get() == 0;
		}

		private void answered() {
			if (this.unanswered.decrementAndGet() == 0) {
				Lane.this.size.answered(this.work, Lane.this.nanos.getAsLong() - this.sent, this.timeout);
				drain();
			}
		}

		private void await(Batch batch, CompletionStage<List<ScriptCall.Outcome>> answer, Runnable done) {
			// A stage that fails would wrap the failure in an exception with a stack
			// trace.
			answer.handle((outcomes, failure) -> {
				try {
					if (failure == null) {
						batch.answer(outcomes);
					}
					else {
						failed(batch, UnansweredException.of(failure));
					}
				}
				catch (Throwable ex) {
					batch.fail(ex);
				}
				finally {
					done.run();
				}
				return null;
			});
		}

		/**
		 * While a slot moves, the keys of a call may be on two nodes, and the call fails.
		 * Its requests are then sent one by one, since each may still be answered.
		 */
		private void failed(Batch batch, UnansweredException failure) {
			List<Batch> singly = (failure.reason() == Decision.Reason.RESHARDING) ? batch.singly() : null;
			if (singly == null) {
				batch.fail(failure);
				return;
			}
			for (Batch single : singly) {
				send(List.of(single), () -> {
				});
			}
		}

	}

}
