package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.redis.Connections;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedisPolicyStoreIntegrationTests extends RedisPolicyStoreContract {

	@Override
	RedisConnector connector() {
		return Connections.standaloneConnector();
	}

	@Override
	List<RedisServer> servers() {
		return List.of(RedisServers.standalone());
	}

	@Test
	void writeFailsWithinASecondWhileRedisIsAway() {
		PolicyStore store = open();
		RedisServers.standalone().freeze();
		long start = Pauses.now();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> write(store, edits(1)));
		assertThat(Pauses.without(start)).isLessThan(Duration.ofMillis(1_500));
		RedisServers.standalone().kill();
		start = Pauses.now();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> write(store, edits(1)));
		assertThat(Pauses.without(start)).isLessThan(Duration.ofMillis(1_500));
	}

	@Test
	void allKeysAreUnderThePrefixAndNoneExpires() {
		PolicyStore store = open();
		write(store, edits(3));
		List<String> keys = RedisServers.standalone().cli("KEYS", "*").lines().toList();
		assertThat(keys).hasSize(7)
			.allMatch((key) -> key.startsWith("rl:{policies}:"))
			.allMatch((key) -> RedisServers.standalone().cli("PTTL", key).equals("-1"));
	}

	@Test
	void entriesThatSomebodyElseAddedAtTheSameMicrosecondAreAllRead() {
		for (String id : List.of("1790000000000000-0", "1790000000000000-1", "1790000000000000-2")) {
			RedisServers.standalone().cli("XADD", "rl:{policies}:audit", id, "reason", id);
		}
		PolicyStore store = open();
		List<AuditEntry> first = audit(store, null);
		List<AuditEntry> next = audit(store, first.get(1).position());
		assertThat(first).extracting((entry) -> entry.attempt().reason())
			.containsExactly("1790000000000000-2", "1790000000000000-1");
		assertThat(next).extracting((entry) -> entry.attempt().reason()).containsExactly("1790000000000000-0");
		assertThat(audit(store, next.get(0).position())).isEmpty();
	}

	@Test
	void recordOfAnUnknownKindIsRead() {
		PolicyStore store = open();
		write(store, edits(2));
		RedisServers.standalone().cli("EVAL", """
				redis.call('HINCRBY', KEYS[1], 'revision', 1)
				redis.call('ZADD', KEYS[2], 3, 'novelty/x')
				redis.call('HSET', KEYS[3], 'novelty/x', '1 3 0 w 0 0\\n')
				""", "3", "rl:{policies}:meta", "rl:{policies}:order", "rl:{policies}:heads");
		Changes changes = store.changesSince(0, 10).toCompletableFuture().join();
		assertThat(changes.revision()).isEqualTo(3);
		assertThat(changes.versions()).hasSize(3)
			.last()
			.extracting(RecordVersion::key)
			.isEqualTo(RecordKey.stored("novelty", "x"));
	}

	@Test
	void largestCallsHoldRedisForAboutAMillisecond() {
		PolicyStore store = open();
		List<Edit> edits = edits(12 * PolicyStore.MAX_EDITS);
		for (int i = 0; i < edits.size(); i += PolicyStore.MAX_EDITS) {
			write(store, edits.subList(i, i + PolicyStore.MAX_EDITS));
		}
		store.changesSince(0, 1).toCompletableFuture().join();
		assertThat(quickest(() -> write(store, edits.subList(0, PolicyStore.MAX_EDITS)))).isLessThan(1_500);
		assertThat(quickest(() -> store.changesSince(0, 10_000).toCompletableFuture().join())).isLessThan(1_500);
		assertThat(quickest(() -> {
			List<RecordVersion> deletions = write(store,
					edits.stream()
						.limit(PolicyStore.MAX_EDITS)
						.map((edit) -> new Edit(edit.key(), null, null))
						.toList());
			String id = store.changesSince(0, 1).toCompletableFuture().join().storeId();
			RedisServers.standalone().cli("CONFIG", "RESETSTAT");
			store.forget(deletions, new Seen(id, 1)).toCompletableFuture().join();
		})).isLessThan(1_500);
	}

	/**
	 * Microseconds of script, when others kept the machine busy the least; half as much
	 * again as it may be on an idle one.
	 */
	private static double quickest(Runnable call) {
		return IntStream.range(0, 30).mapToDouble((i) -> {
			RedisServers.standalone().cli("CONFIG", "RESETSTAT");
			call.run();
			String statistics = RedisServers.standalone().info("commandstats").get("cmdstat_evalsha");
			return Double.parseDouble(statistics.replaceAll(".*usec_per_call=([0-9.]+).*", "$1"));
		}).min().orElseThrow();
	}

	private static List<AuditEntry> audit(PolicyStore store, AuditPosition before) {
		return store.audit(before, 2).toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
	}

	private static List<RecordVersion> write(PolicyStore store, List<Edit> edits) {
		return store.write(edits, Seen.NOTHING, "ann", "because")
			.toCompletableFuture()
			.orTimeout(5, TimeUnit.SECONDS)
			.join();
	}

	private static List<Edit> edits(int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> new Edit(new RecordKey(Kind.OVERRIDE, "orders/tenant/" + i),
					"{\"limits\": {\"per-tenant\": [\"100/s\", \"" + i + "/h\"]}}", null))
			.toList();
	}

}
