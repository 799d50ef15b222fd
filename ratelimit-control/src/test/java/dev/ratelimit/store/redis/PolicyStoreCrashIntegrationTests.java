package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis is killed in the middle of writes and comes back from its disk.
 */
class PolicyStoreCrashIntegrationTests {

	private static final RecordKey ONE = PolicyInstance.override(1);

	private static final RecordKey TWO = PolicyInstance.override(2);

	@Test
	void everyWriteIsThereAsAWholeOrNotAtAllAndNoneIsLostThatWasDone() throws InterruptedException {
		try (RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
				PolicyInstance instance = new PolicyInstance(server);
				PolicyInstance follower = new PolicyInstance(server)) {
			AtomicInteger acknowledged = new AtomicInteger();
			AtomicInteger tried = new AtomicInteger();
			for (int kill = 1; kill <= 3; kill++) {
				AtomicBoolean stop = new AtomicBoolean();
				Thread writer = new Thread(() -> writeUntil(stop, instance, tried, acknowledged));
				int before = acknowledged.get();
				writer.start();
				// Each of them waits for the disk.
				Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> acknowledged.get() > before + 200);
				server.kill();
				stop.set(true);
				writer.join();
				server.restart();
				assertWhole(server, instance, acknowledged.get(), tried.get());
			}
			Awaitility.await()
				.untilAsserted(() -> assertThat(follower.body(ONE)).isEqualTo(follower.body(TWO)).isNotNull());
			assertThat(follower.replica.state().incident()).isNull();
			assertThat(instance.replica.state().incident()).isNull();
		}
	}

	/** Both records say the same, and are written together. */
	private static void writeUntil(AtomicBoolean stop, PolicyInstance instance, AtomicInteger tried,
			AtomicInteger acknowledged) {
		while (!stop.get()) {
			String body = "" + tried.incrementAndGet();
			try {
				instance.store
					.write(List.of(new Edit(ONE, body, null), new Edit(TWO, body, null)), Seen.NOTHING, "ann", "")
					.toCompletableFuture()
					.join();
				acknowledged.set(Integer.parseInt(body));
			}
			catch (CompletionException ex) {
				// Killed, or not connected again yet.
				Thread.yield();
			}
		}
	}

	private static void assertWhole(RedisServer server, PolicyInstance instance, int acknowledged, int tried) {
		Changes changes = Awaitility.await()
			.ignoreExceptions()
			.until(() -> instance.store.changesSince(0, 10).toCompletableFuture().get(1, TimeUnit.SECONDS),
					(read) -> true);
		RecordVersion one = changes.versions().get(0);
		RecordVersion two = changes.versions().get(1);
		assertThat(one.body()).isEqualTo(two.body());
		assertThat(one.version()).isEqualTo(two.version());
		assertThat(two.revision()).isEqualTo(one.revision() + 1).isEqualTo(changes.revision());
		assertThat(Integer.parseInt(one.body())).isBetween(acknowledged, tried);
		List<RecordVersion> history = instance.store.history(ONE, 100_000).toCompletableFuture().join();
		assertThat(history).hasSize((int) Math.min(one.version(), PolicyStore.KEPT_VERSIONS)).startsWith(one);
		assertThat(server.cli("HGET", "rl:{policies}:versions", "override/" + ONE.id()))
			.isEqualTo(Long.toString(one.version()));
	}

}
