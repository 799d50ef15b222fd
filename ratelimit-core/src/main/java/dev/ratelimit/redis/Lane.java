package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.UnansweredException;

/**
 * The way to one node. Requests that find nothing under way leave at once; what arrives
 * while {@value #MAX_ROUNDS} rounds are under way waits, and leaves as the next round:
 * one script call, in a cluster one per slot, in one write. The busier Redis is the more
 * requests share a call, so that it gets cheaper the more of them there are, and a lone
 * one never waits for company.
 *
 * <p>
 * A round has its place until it is answered or until nobody waits for it any more: a
 * node that is silent does not hold up those who ask later. Requests whose time is over
 * before they have left are not sent.
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

	private final Function<ScriptCall, CompletionStage<List<ScriptCall.Outcome>>> send;

	/**
	 * Creates a lane.
	 * @param slot what requests must have in common to share a call
	 * @param send sends a call
	 */
	Lane(ToIntFunction<Waiting> slot, Function<ScriptCall, CompletionStage<List<ScriptCall.Outcome>>> send) {
		this.slot = slot;
		this.send = send;
	}

	void enter(Waiting request) {
		this.waiting.add(request);
		drain();
	}

	private void drain() {
		if (this.wanted.getAndIncrement() > 0) {
			return;
		}
		int seen = 1;
		do {
			sendRounds();
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

	/**
	 * Calls that leave together.
	 */
	private final class Round {

		private final List<Batch> batches = new ArrayList<>(1);

		private final AtomicInteger unanswered = new AtomicInteger();

		private long deadline;

		void fill(long now) {
			Map<Integer, Batch> open = new HashMap<>();
			for (Waiting next = Lane.this.waiting.peek(); next != null; next = Lane.this.waiting.peek()) {
				if (next.isOver(now)) {
					next.completeExceptionally(new UnansweredException(Decision.Reason.TIMEOUT, "waited too long"));
				}
				else if (!add(next, open)) {
					break;
				}
				Lane.this.waiting.poll();
			}
			this.unanswered.set(this.batches.size());
		}

		private boolean add(Waiting request, Map<Integer, Batch> open) {
			int slot = Lane.this.slot.applyAsInt(request);
			Batch batch = open.get(slot);
			if (batch == null || !batch.offer(request)) {
				if (this.batches.size() == MAX_CALLS) {
					return false;
				}
				batch = new Batch(request);
				this.batches.add(batch);
				open.put(slot, batch);
				this.deadline = (this.batches.size() == 1) ? request.deadline() : this.deadline;
			}
			if (request.deadline() - this.deadline > 0) {
				this.deadline = request.deadline();
			}
			return true;
		}

		void send() {
			if (this.batches.isEmpty()) {
				end();
			}
			for (Batch batch : this.batches) {
				send(batch, (outcomes, failure) -> answered());
			}
		}

		boolean isOver(long now) {
			return this.unanswered.get() == 0 || now - this.deadline > 0;
		}

		private void answered() {
			if (this.unanswered.decrementAndGet() == 0) {
				end();
			}
		}

		private void end() {
			drain();
		}

		private void send(Batch batch, BiConsumer<@Nullable Object, @Nullable Throwable> done) {
			Lane.this.send.apply(batch.call()).whenComplete((outcomes, failure) -> {
				if (failure == null) {
					batch.answer(outcomes);
				}
				else {
					failed(batch, UnansweredException.of(failure));
				}
			}).whenComplete(done);
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
			singly.forEach((single) -> send(single, (outcomes, ignored) -> {
			}));
		}

	}

}
