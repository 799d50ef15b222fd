package dev.ratelimit.store.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.store.Changes;
import dev.ratelimit.store.ConfirmationException;
import dev.ratelimit.store.ForwardingStore;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaState.Origin;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.store.SnapshotFile;
import dev.ratelimit.store.SnapshotWriter;
import dev.ratelimit.testing.CapturedLog;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Instances follow the store, through what can go wrong on the way.
 */
@ExtendWith(RedisServers.class)
class ReplicaIntegrationTests {

	private static final RecordKey ORDERS = new RecordKey(Kind.POLICY, "orders");

	private static final RecordKey SEARCH = new RecordKey(Kind.POLICY, "search");

	private final RedisServer server = RedisServers.standalone();

	private final List<PolicyInstance> fleet = new ArrayList<>();

	@AfterEach
	void end() {
		this.fleet.forEach(PolicyInstance::close);
	}

	@Test
	void writesReachAllInstancesInOrder() {
		PolicyInstance one = start();
		RecordVersion before = one.write(ORDERS, "1");
		PolicyInstance other = start();
		within(2).until(() -> other.has(before));
		for (int i = 2; i < 50; i++) {
			one.write(ORDERS, "" + i);
		}
		RecordVersion deleted = one.write(ORDERS, null);
		within(2).until(() -> this.fleet.stream().allMatch((instance) -> instance.has(deleted)));
		assertThat(other.changed).extracting(RecordVersion::revision).isSorted().doesNotHaveDuplicates();
		within(2).until(() -> !other.propagated.isEmpty());
		assertThat(other.replica.state().revision()).isEqualTo(deleted.revision());
		assertThat(other.replica.state().stale()).isFalse();
	}

	@Test
	void copyOfManyRecordsIsToldAtOnce() {
		PolicyInstance one = start();
		for (int i = 0; i < 600; i++) {
			one.write(PolicyInstance.override(i), "{}");
		}
		AtomicInteger calls = new AtomicInteger();
		Replica late = new Replica(one.store, Snapshot.NONE, (versions) -> {
			calls.incrementAndGet();
			assertThat(versions).hasSize(600);
		}, System::nanoTime);
		late.start();
		within(5).until(() -> late.state().revision() == 600);
		within(1).until(() -> calls.get() == 1);
		late.close();
	}

	@Test
	void killedSubscriptionIsRepaired() {
		PolicyInstance one = start();
		PolicyInstance other = start();
		RecordVersion first = one.write(ORDERS, "1");
		within(2).until(() -> other.has(first));
		this.server.cli("CLIENT", "KILL", "TYPE", "pubsub");
		RecordVersion second = one.write(ORDERS, "2");
		within(3).until(() -> other.has(second));
		RecordVersion third = one.write(ORDERS, "3");
		within(1).until(() -> other.has(third));
	}

	@Test
	void writeThatNobodyIsToldOfArrivesWithinTenSeconds() {
		PolicyInstance one = start();
		PolicyInstance deaf = start(Snapshot.NONE, (store) -> new StoreView(store, false));
		for (int i = 0; i < 2; i++) {
			RecordVersion written = one.write(ORDERS, "" + i);
			within(10).until(() -> deaf.has(written));
		}
	}

	@Test
	void manyWritesDuringOneReadAreOneMoreRead() {
		PolicyInstance one = start();
		StoreView view = new StoreView(one.store, true);
		CountDownLatch go = new CountDownLatch(1);
		Replica busy = new Replica(view, Snapshot.NONE, (versions) -> {
			try {
				go.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, System::nanoTime);
		one.write(ORDERS, "0");
		busy.start();
		within(2).until(() -> busy.get(ORDERS) != null);
		RecordVersion last = one.write(ORDERS, "1");
		for (int i = 0; i < 100; i++) {
			last = one.write(ORDERS, "" + i);
		}
		int before = view.reads.get();
		go.countDown();
		long revision = last.revision();
		within(2).until(() -> busy.state().revision() == revision);
		assertThat(view.reads.get() - before).isLessThanOrEqualTo(3);
		busy.close();
	}

	@Test
	void emptiedStoreIsAnIncidentAndTheCopyStays() {
		PolicyInstance one = start();
		PolicyInstance other = start();
		one.write(SEARCH, "1");
		one.write(SEARCH, null);
		one.write(ORDERS, "1");
		RecordVersion known = one.write(ORDERS, "2");
		within(2).until(() -> this.fleet.stream().allMatch((instance) -> instance.has(known)));
		this.server.flush();
		tell();
		within(10).until(() -> this.fleet.stream().allMatch((instance) -> instance.replica.state().incident() != null));
		assertThat(other.replica.state().stale()).isTrue();
		assertThat(other.replica.state().revision()).isEqualTo(known.revision());
		assertThat(this.fleet).allMatch((instance) -> instance.has(known));
		other.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		within(2).until(() -> this.fleet.stream().noneMatch((instance) -> instance.replica.state().stale()));
		assertThat(this.fleet).allMatch((instance) -> "2".equals(instance.body(ORDERS)))
			.allMatch((instance) -> instance.body(SEARCH) == null);
		assertThat(one.replica.state().revision()).isGreaterThan(known.revision());
		RecordVersion next = one.write(ORDERS, "3");
		assertThat(next.version()).isEqualTo(known.version() + 1);
		assertThat(one.write(SEARCH, "2").version()).isEqualTo(3);
		within(2).until(() -> this.fleet.stream().allMatch((instance) -> instance.has(next)));
	}

	@Test
	void reseedingKeepsWhatWasWrittenSinceTheLossAndNewInstancesFollow() {
		PolicyInstance one = start();
		RecordVersion known = one.write(ORDERS, "1");
		within(2).until(() -> one.has(known));
		this.server.flush();
		tell();
		within(10).until(() -> one.replica.state().incident() != null);
		RecordVersion since = one.write(SEARCH, "1");
		PolicyInstance fresh = start();
		within(2).until(() -> fresh.has(since));
		assertThat(one.body(SEARCH)).isNull();
		one.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		within(10).until(() -> this.fleet.stream()
			.allMatch((instance) -> "1".equals(instance.body(SEARCH)) && "1".equals(instance.body(ORDERS))));
		within(2).until(() -> this.fleet.stream().noneMatch((instance) -> instance.replica.state().stale()));
	}

	@Test
	void acceptingTakesWhatTheStoreHas() {
		PolicyInstance one = start();
		PolicyInstance other = start();
		one.write(ORDERS, "1");
		RecordVersion known = one.write(SEARCH, "1");
		within(2).until(() -> this.fleet.stream().allMatch((instance) -> instance.has(known)));
		this.server.flush();
		tell();
		within(10).until(() -> one.replica.state().incident() != null && other.replica.state().incident() != null);
		one.write(ORDERS, "new");
		for (Long confirmed : Arrays.asList(null, 2L)) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> one.replica.accept(confirmed, "ann", "meant").toCompletableFuture().join())
				.withCauseInstanceOf(ConfirmationException.class)
				.withMessageContaining("removes 1 of kind policy");
		}
		assertThat(one.body(SEARCH)).isEqualTo("1");
		one.replica.accept(1L, "ann", "meant").toCompletableFuture().join();
		within(2).until(() -> this.fleet.stream().noneMatch((instance) -> instance.replica.state().stale()));
		assertThat(this.fleet).allMatch((instance) -> "new".equals(instance.body(ORDERS)))
			.allMatch((instance) -> instance.body(SEARCH) == null);
		assertThat(one.write(SEARCH, "2").version()).isGreaterThan(known.version());
	}

	@Test
	void olderBackupIsAnIncidentEvenWhenItHasCaughtUpInNumbers() {
		PolicyInstance one = start();
		RecordVersion old = one.write(ORDERS, "1");
		copy("", "old:");
		RecordVersion lost = one.write(ORDERS, "2");
		within(2).until(() -> one.has(lost));
		copy("old:", "");
		tell();
		within(10).until(() -> one.replica.state().incident() != null);
		for (int i = 0; i < 5; i++) {
			one.write(SEARCH, "" + i);
		}
		Awaitility.await().during(Duration.ofSeconds(1)).until(() -> one.has(lost));
		assertThat(one.replica.state().incident()).isNotNull();
		assertThat(old.revision()).isLessThan(lost.revision());
		one.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		assertThat(one.body(ORDERS)).isEqualTo("2");
		assertThat(one.body(SEARCH)).isEqualTo("4");
	}

	@ParameterizedTest
	@ValueSource(strings = { "meta", "versions", "heads", "order" })
	void evictedPartIsAnIncidentAndReseedingMakesTheStoreWhole(String part) {
		PolicyInstance one = start();
		one.write(SEARCH, "1");
		one.write(ORDERS, "1");
		RecordVersion known = one.write(ORDERS, "2");
		within(2).until(() -> one.has(known));
		this.server.cli("DEL", "rl:{policies}:" + part);
		tell();
		within(10).until(() -> one.replica.state().incident() != null);
		one.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		assertThat(one.replica.state().stale()).isFalse();
		RecordVersion next = one.write(ORDERS, "3");
		assertThat(next.version()).isGreaterThan(known.version());
		PolicyInstance fresh = start();
		within(2).until(() -> fresh.has(next) && one.has(next));
		assertThat(fresh.body(SEARCH)).isEqualTo("1");
	}

	@Test
	void pagesOfUnknownKindsAreKeptAndHideNothing() {
		PolicyInstance one = start();
		for (int i = 0; i < 600; i++) {
			one.write(RecordKey.stored("invented", "tenant/" + i), "{}");
		}
		RecordVersion known = one.write(ORDERS, "1");
		PolicyInstance fresh = start();
		within(5).until(() -> fresh.has(known) && one.has(known));
		assertThat(fresh.replica.snapshot(0).records()).hasSize(601);
		this.server.flush();
		tell();
		within(10).until(() -> this.fleet.stream().allMatch((instance) -> instance.replica.state().incident() != null));
		fresh.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		PolicyInstance later = start();
		within(5).until(() -> later.replica.state().origin() == Origin.STORE);
		assertThat(later.body(ORDERS)).isEqualTo("1");
		assertThat(later.replica.snapshot(0).records()).hasSize(601);
	}

	@Test
	void reseededStoreStillNumbersARecordAboveItsForgottenVersions() {
		PolicyInstance one = start();
		for (int i = 1; i < 5; i++) {
			one.write(SEARCH, "" + i);
		}
		RecordVersion deleted = one.write(SEARCH, null);
		RecordVersion known = one.write(ORDERS, "1");
		within(2).until(() -> one.has(known));
		one.store.forget(List.of(deleted), one.replica.seen()).toCompletableFuture().join();
		tell();
		within(10).until(() -> one.replica.get(SEARCH) == null);
		this.server.flush();
		tell();
		within(10).until(() -> one.replica.state().incident() != null);
		one.replica.reseed(null, "ann", "back").toCompletableFuture().join();
		assertThat(one.write(SEARCH, "6").version()).isEqualTo(6);
		assertThat(one.write(ORDERS, "2").version()).isEqualTo(2);
	}

	@Test
	void damagedStoreTakesNoWrites() {
		PolicyInstance one = start();
		one.write(ORDERS, "1");
		this.server.cli("DEL", "rl:{policies}:versions");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> one.write(ORDERS, "2"))
			.withMessageContaining("reseed");
	}

	@Test
	void otherWriteUnderTheSameRevisionIsAnIncident() {
		PolicyInstance one = start();
		one.write(ORDERS, "1");
		copy("", "old:");
		StoreView view = new StoreView(one.store, false);
		RecordVersion lost = one.write(ORDERS, "2");
		within(2).until(() -> one.has(lost));
		copy("old:", "");
		PolicyInstance writer = start(Snapshot.NONE, (store) -> view);
		RecordVersion other = writer.write(SEARCH, "1");
		assertThat(other.revision()).isEqualTo(lost.revision());
		within(10).until(() -> one.replica.state().incident() != null);
		assertThat(one.has(lost)).isTrue();
	}

	@Test
	void instanceThatStartsWhileRedisIsDownGoesByItsFile(@TempDir Path folder) throws IOException {
		SnapshotFile file = new SnapshotFile(folder.resolve("policies.snapshot"));
		RecordVersion known;
		try (RedisServer own = RedisServer.start("--appendonly", "yes")) {
			try (PolicyInstance first = new PolicyInstance(own);
					SnapshotWriter writer = new SnapshotWriter(file, first.replica, () -> 3)) {
				writer.start();
				known = first.write(ORDERS, "1");
				within(5).until(() -> file.read().revision() == known.revision());
			}
			own.kill();
			assertThat(file.read().instances()).isEqualTo(3);
			try (PolicyInstance again = new PolicyInstance(own.uri(), file.read(), UnaryOperator.identity())) {
				assertThat(again.changed).containsExactly(known);
				assertThat(again.has(known)).isTrue();
				assertThat(again.replica.state().lastContact()).isNull();
				own.restart();
				within(10).until(() -> again.replica.state().lastContact() != null);
				RecordVersion next = again.write(ORDERS, "2");
				within(2).until(() -> again.has(next));
				assertThat(again.replica.state().incident()).isNull();
			}
		}
	}

	@Test
	void oneOfTwoInstancesWritesTheFileAndTheOtherTakesOver(@TempDir Path folder) throws Exception {
		SnapshotFile file = new SnapshotFile(folder.resolve("policies.snapshot"));
		PolicyInstance one = start();
		RecordVersion known = one.write(ORDERS, "1");
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> one.has(known));
		SnapshotWriter first = new SnapshotWriter(file, one.replica, () -> 3);
		try (SnapshotWriter second = new SnapshotWriter(file, one.replica, () -> 4)) {
			first.start();
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> file.read().instances() == 3);
			second.start();
			RecordVersion next = one.write(ORDERS, "2");
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> file.read().revision() == next.revision());
			assertThat(file.read().instances()).isEqualTo(3);
			first.close();
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> file.read().instances() == 4);
		}
		finally {
			first.close();
		}
	}

	@Test
	void fileThatCannotBeWrittenIsOneWarningWithTheSettingThatMovesIt(@TempDir Path folder) throws IOException {
		Path notAFolder = Files.createFile(folder.resolve("state"));
		PolicyInstance one = start();
		RecordVersion known = one.write(ORDERS, "1");
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> one.has(known));
		SnapshotFile file = new SnapshotFile(notAFolder.resolve("policies.snapshot"));
		try (CapturedLog log = new CapturedLog(SnapshotWriter.class.getName())) {
			// Tries once more when it is closed.
			try (SnapshotWriter writer = new SnapshotWriter(file, one.replica, () -> 3)) {
				writer.start();
				Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> !log.lines().isEmpty());
			}
			assertThat(log.lines()).singleElement()
				.asString()
				.contains(notAFolder.toString(), "cannot be written", "ratelimit.policies-store.snapshot-file");
		}
	}

	/** Makes instances look at once; they do every few seconds anyway. */
	private void tell() {
		this.server.cli("PUBLISH", "rl:signals", RedisPolicyStore.SIGNAL + " 0");
	}

	/** Copies all keys of the store to other names or back. */
	private void copy(String from, String to) {
		if (to.isEmpty()) {
			this.server.cli("KEYS", "rl:*").lines().forEach((key) -> this.server.cli("DEL", key));
		}
		this.server.cli("KEYS", from + "rl:*")
			.lines()
			.filter((key) -> !key.isBlank())
			.forEach((key) -> this.server.cli("COPY", key, to + key.substring(from.length()), "REPLACE"));
	}

	private PolicyInstance start() {
		return start(Snapshot.NONE, UnaryOperator.identity());
	}

	private PolicyInstance start(Snapshot start, UnaryOperator<PolicyStore> view) {
		PolicyInstance instance = new PolicyInstance(this.server.uri(), start, view);
		this.fleet.add(instance);
		within(5).until(() -> instance.replica.state().lastContact() != null);
		return instance;
	}

	private static Within within(int seconds) {
		return Within.seconds(seconds);
	}

	/** Counts reads, and may keep what it is told to itself. */
	private static final class StoreView extends ForwardingStore {

		final AtomicInteger reads = new AtomicInteger();

		private final boolean tells;

		StoreView(PolicyStore store, boolean tells) {
			super(store);
			this.tells = tells;
		}

		@Override
		public CompletionStage<Changes> changesSince(long revision, int limit) {
			this.reads.incrementAndGet();
			return super.changesSince(revision, limit);
		}

		@Override
		public AutoCloseable subscribe(LongConsumer listener) {
			return this.tells ? super.subscribe(listener) : () -> {
			};
		}

	}

}
