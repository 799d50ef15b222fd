package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A copy while time passes and when it ends; the store answers when the test says so.
 */
class ReplicaTests {

	private final AtomicLong nanos = new AtomicLong();

	private final Answers store = new Answers();

	private final List<Boolean> told = new CopyOnWriteArrayList<>();

	private final Replica replica = new Replica(this.store, Snapshot.NONE, new ReplicaListener() {

		@Override
		public void changed(List<RecordVersion> versions) {
		}

		@Override
		public void stateChanged(ReplicaState state) {
			ReplicaTests.this.told.add(state.stale());
		}

	}, this.nanos::get);

	@AfterEach
	void end() {
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("the test is over"));
		this.replica.close();
	}

	@Test
	void copyIsStaleAfterThirtySecondsOfSilenceUntilTheStoreAnswers() {
		this.replica.start();
		soon().until(() -> this.replica.state().lastContact() != null);
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("away"));
		pass(30);
		assertThat(this.replica.state().stale()).isFalse();
		pass(1);
		assertThat(this.replica.state().stale()).isTrue();
		assertThat(this.replica.state().incident()).isNull();
		this.store.tell();
		soon().until(() -> this.told.equals(List.of(true)));
		this.store.answer = Answers.EMPTY;
		soon().until(() -> this.told.equals(List.of(true, false)));
		assertThat(this.replica.state().stale()).isFalse();
	}

	@Test
	void copyWhoseStoreNeverAnsweredIsStaleThirtySecondsAfterTheStart() {
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("away"));
		this.replica.start();
		pass(29);
		assertThat(this.replica.state().stale()).isFalse();
		pass(2);
		assertThat(this.replica.state().stale()).isTrue();
		soon().until(() -> this.told.equals(List.of(true)));
	}

	@Test
	void decisionThatIsPendingWhenTheReplicaClosesFails() {
		this.store.answer = new CompletableFuture<>();
		this.replica.start();
		soon().until(() -> this.store.asked.get() > 0);
		CompletionStage<Void> reseeded = this.replica.reseed("ann", "lost");
		CompletionStage<Void> accepted = this.replica.accept("ann", "meant");
		this.replica.close();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(reseeded))
			.withCauseInstanceOf(RejectedExecutionException.class);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(accepted))
			.withCauseInstanceOf(RejectedExecutionException.class);
	}

	@Test
	void decisionThatIsUnderWayWhenTheReplicaClosesEndsWithTheAnswer() {
		this.replica.start();
		soon().until(() -> this.replica.state().lastContact() != null);
		CompletableFuture<Changes> late = new CompletableFuture<>();
		this.store.answer = late;
		long before = this.store.asked.get();
		CompletionStage<Void> reseeded = this.replica.reseed("ann", "lost");
		soon().until(() -> this.store.asked.get() > before);
		this.replica.close();
		late.complete(new Changes("", 0, List.of()));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(reseeded))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("nothing to decide");
	}

	@Test
	void decisionAfterTheEndFails() {
		this.replica.close();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(this.replica.accept("ann", "late")))
			.withCauseInstanceOf(RejectedExecutionException.class);
	}

	@Test
	void decisionFailsIfTheStoreCannotBeFollowed() {
		this.store.subscribable = false;
		CompletionStage<Void> reseeded = this.replica.reseed("ann", "lost");
		this.replica.start();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(reseeded))
			.withCauseInstanceOf(RejectedExecutionException.class);
	}

	private void pass(int seconds) {
		this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
	}

	private static void join(CompletionStage<Void> stage) {
		stage.toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
	}

	private static ConditionFactory soon() {
		return Awaitility.await().atMost(Duration.ofSeconds(10)).pollInterval(Duration.ofMillis(5));
	}

	/** An empty store that answers as it is told to. */
	private static final class Answers implements PolicyStore {

		static final CompletableFuture<Changes> EMPTY = CompletableFuture
			.completedFuture(new Changes("", 0, List.of()));

		final AtomicLong asked = new AtomicLong();

		volatile CompletableFuture<Changes> answer = EMPTY;

		volatile boolean subscribable = true;

		private volatile LongConsumer subscriber = (revision) -> {
		};

		void tell() {
			this.subscriber.accept(0);
		}

		@Override
		public CompletionStage<Changes> changesSince(long revision, int limit) {
			CompletableFuture<Changes> answer = this.answer;
			this.asked.incrementAndGet();
			return answer;
		}

		@Override
		public AutoCloseable subscribe(LongConsumer listener) {
			if (!this.subscribable) {
				throw new IllegalStateException("no subscription");
			}
			this.subscriber = listener;
			return () -> {
			};
		}

		@Override
		public CompletionStage<List<RecordVersion>> write(List<Edit> edits, String actor, String reason) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records, String actor,
				String reason) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> audit(AuditRecord entry) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<AuditRecord>> audit(AuditPosition before, int limit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Boolean> lead(String task, String instance, Duration time) {
			throw new UnsupportedOperationException();
		}

	}

}
