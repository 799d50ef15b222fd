package dev.ratelimit.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Listeners;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.RecordVersion;

/**
 * Writes the steps of rollouts, and reports each that is in the store. A write without an
 * answer may have happened, or may still happen: it is looked up until the store has its
 * version or another one in its place. So each step is reported once, if this instance
 * lives on. The reason names the instance: another one may write the same step meanwhile.
 */
final class RolloutWrites {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** After so many turns a write that is still on its way has failed. */
	private static final int MOST_LOOK_UPS = 120;

	private final ControlPlane control;

	private final List<RolloutListener> listeners;

	private final Duration timeout;

	/**
	 * Writes without an answer. A version may have several: each is tried again after
	 * some turns, with the numbers of that time as the reason, and any of them may
	 * happen. At most one does, as all expect the same version.
	 */
	private final List<Attempt> unanswered = new ArrayList<>();

	RolloutWrites(ControlPlane control, List<RolloutListener> listeners, Duration timeout) {
		this.control = control;
		this.listeners = List.copyOf(listeners);
		this.timeout = timeout;
	}

	/**
	 * Waits for a write and reports it. A conflict is no failure: somebody changed the
	 * policy meanwhile.
	 * @throws CompletionException if it fails or takes too long
	 */
	void await(Attempt attempt, CompletionStage<RecordVersion> write) {
		String id = attempt.before().key().id();
		try {
			RecordVersion written = Futures.await(write, this.timeout);
			this.unanswered.removeIf(attempt::isOfSameVersion);
			report(attempt, written.version());
		}
		catch (CompletionException ex) {
			if (!(Futures.cause(ex) instanceof ConflictException)) {
				this.unanswered
					.removeIf((other) -> attempt.isOfSameVersion(other) && attempt.author().equals(other.author()));
				this.unanswered.add(attempt);
				throw ex;
			}
			logger.debug("Policy '{}' was changed meanwhile", id);
		}
	}

	/**
	 * Looks for the writes that had no answer, and reports those that happened.
	 * @throws CompletionException if the store does not answer; then the next call looks
	 * again
	 */
	void lookUp() {
		for (Attempt attempt : List.copyOf(this.unanswered)) {
			if (!this.unanswered.contains(attempt)) {
				continue;
			}
			List<RecordVersion> versions = Futures.await(this.control.history(attempt.before().key()), this.timeout);
			RecordVersion successor = versions.stream()
				.filter((version) -> version.version() == attempt.before().version() + 1)
				.findFirst()
				.orElse(null);
			if (successor != null) {
				List<Attempt> same = this.unanswered.stream().filter(attempt::isOfSameVersion).toList();
				this.unanswered.removeAll(same);
				same.stream()
					.filter((one) -> one.isOf(successor))
					.findFirst()
					.ifPresent((one) -> report(one, successor.version()));
			}
			else {
				this.unanswered.remove(attempt);
				Attempt later = attempt.lookedUp();
				if (later.lookUps() < MOST_LOOK_UPS) {
					this.unanswered.add(later);
				}
			}
		}
	}

	private void report(Attempt attempt, long version) {
		String id = attempt.before().key().id();
		if (attempt.back()) {
			logger.warn("Policy '{}', version {}, was {}; version {} is in force for everybody again", id,
					attempt.before().version(), attempt.author().reason(), attempt.restored());
		}
		else {
			logger.info("Policy '{}', version {}: {}", id, version, attempt.author().reason());
		}
		RolloutListener.Event event = new RolloutListener.Event(id, attempt.back(), attempt.before().version(), version,
				attempt.author());
		Listeners.callAll(this.listeners, (listener) -> listener.changed(event));
	}

	/**
	 * A step to write.
	 *
	 * @param before the version that it replaces
	 * @param back whether it is a rollback
	 * @param restored the version that a rollback restores
	 * @param lookUps how often it was looked for
	 */
	record Attempt(RecordVersion before, boolean back, long restored, Author author, int lookUps) {

		Attempt lookedUp() {
			return new Attempt(this.before, this.back, this.restored, this.author, this.lookUps + 1);
		}

		/** Whether another attempt replaces the same version. */
		boolean isOfSameVersion(Attempt other) {
			return this.before.key().equals(other.before.key()) && this.before.version() == other.before.version();
		}

		boolean isOf(RecordVersion version) {
			return version.actor().equals(this.author.actor()) && version.reason().equals(this.author.reason());
		}

	}

}
