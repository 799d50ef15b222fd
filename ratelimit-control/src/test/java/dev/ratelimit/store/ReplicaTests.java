package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
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

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A copy while time passes and when it ends; the store answers when the test says so.
 */
class ReplicaTests {

	private final AtomicLong nanos = new AtomicLong();

	private final Answers store = new Answers();

	private final List<Boolean> told = new CopyOnWriteArrayList<>();

	private Replica replica = replica(Snapshot.NONE);

	@AfterEach
	void end() {
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("the test is over"));
		this.replica.close();
	}

	@Test
	void copyIsStaleAfterThirtySecondsOfSilenceUntilTheStoreAnswers() {
		this.replica.start();
		soon().until(() -> this.replica.state().read());
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
	void copyWithNeitherStoreNorSnapshotIsStaleFromTheStartUntilTheStoreIsRead() throws InterruptedException {
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("away"));
		this.replica.start();
		soon().until(() -> this.told.equals(List.of(true)));
		assertThat(this.replica.state()).matches(ReplicaState::missing).matches(ReplicaState::stale);
		assertThat(this.replica.await(Duration.ZERO)).isFalse();
		this.store.answer = Answers.EMPTY;
		assertThat(this.replica.await(Duration.ofMinutes(1))).isTrue();
		assertThat(this.replica.state().missing()).isFalse();
		soon().until(() -> this.told.equals(List.of(true, false)));
	}

	@Test
	void onlyPagesWithSomethingNewAreProgress() {
		this.store.answer = CompletableFuture.failedFuture(new IllegalStateException("away"));
		this.replica.start();
		pass(7);
		assertThat(this.replica.stalled()).isEqualTo(Duration.ofSeconds(7));
		// Each read asks for the same first page, and the store never has the second.
		this.store.answer = CompletableFuture.completedFuture(new Changes("a", 9,
				List.of(new RecordVersion(RecordKey.named("policy/a"), 1, 5, "{}", "ann", Instant.EPOCH, ""))));
		soon().until(() -> this.replica.received() == 5);
		soon().until(() -> this.replica.stalled().isZero());
		long asked = this.store.asked.get();
		pass(3);
		soon().until(() -> this.store.asked.get() > asked + 10);
		assertThat(this.replica.stalled()).isEqualTo(Duration.ofSeconds(3));
		assertThat(this.replica.state().missing()).isTrue();
	}

	@Test
	void copyFromASnapshotIsStaleThirtySecondsAfterTheStart() {
		this.replica.close();
		this.replica = replica(new Snapshot("a", 7, 1, List.of(), Forgotten.NONE));
		assertThat(this.replica.state().missing()).isFalse();
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
		CompletionStage<Void> reseeded = this.replica.reseed(null, "ann", "back");
		CompletionStage<Void> accepted = this.replica.accept(null, "ann", "meant");
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
		CompletionStage<Void> reseeded = this.replica.reseed(null, "ann", "back");
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
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> join(this.replica.accept(null, "ann", "late")))
			.withCauseInstanceOf(RejectedExecutionException.class);
	}

	@Test
	void decisionFailsIfTheStoreCannotBeFollowed() {
		this.store.subscribable = false;
		CompletionStage<Void> reseeded = this.replica.reseed(null, "ann", "back");
		this.replica.start();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(reseeded))
			.withCauseInstanceOf(RejectedExecutionException.class);
	}

	private Replica replica(Snapshot start) {
		return new Replica(this.store, start, new ReplicaListener() {

			@Override
			public void changed(List<RecordVersion> versions) {
			}

			@Override
			public void stateChanged(ReplicaState state) {
				ReplicaTests.this.told.add(state.stale());
			}

		}, this.nanos::get);
	}

	private void pass(int seconds) {
		this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
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
		public CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> audit(AuditRecord attempt, AuditPosition remove) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<AuditEntry>> audit(AuditPosition before, int limit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<AuditEntry>> scanAudit(AuditPosition before) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<AuditHead> auditHead() {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time) {
			throw new UnsupportedOperationException();
		}

	}

}
