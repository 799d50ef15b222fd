package dev.ratelimit.app.fault;

import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/** One caller who is somebody else each time costs memory in Redis and nowhere else. */
@Tag("alone")
class ManyKeysIntegrationTests {

	/** More than with jemalloc: the binary of the tests has none. */
	private static final long BYTES_PER_KEY = 220;

	private static final long HEAP = 16 << 20;

	private static final int TOO_MANY = 10_000;

	@Test
	void distinctKeysFillNeitherHeapNorMetersAllExpireAndMayBeEvicted() {
		int keys = Faults.keys();
		try (RedisServer redis = RedisServer.start();
				FaultCase fault = FaultCase.start(
						keys + " distinct keys from one attacker, then evicted (allkeys-lru); timeout: 1s",
						Gateway.on(redis)
							.policy("on-failure=allow", "timeout=1s", "limits.per-tenant.by=tenant",
									"limits.per-tenant.quota=10/d"),
						Callers.tenants(10))) {
			fault.before();
			Meters meters = new Meters(fault);
			long metersBefore = meters.count();
			long heapBefore = FaultReport.heapAfterCollection();
			long memoryBefore = memory(redis);
			fault.during(() -> Attacker.of(fault).call("nobody", keys));
			long heap = FaultReport.heapAfterCollection() - heapBefore;
			long memory = memory(redis) - memoryBefore;
			Map<String, String> keyspace = redis.info("keyspace");
			fault.after(() -> evict(redis, fault));
			System.out.printf("  heap %+d kB, Redis %d bytes per key, %s%n", heap >> 10, memory / keys, keyspace);
			assertThat(fault.calls().total(Calls::serverErrors)).isZero();
			assertThat(fault.calls().total(Calls::failures)).isZero();
			assertThat(fault.decisions().count(Phase.DURING, Decisions.Kind::degraded)).isZero();
			assertThat(meters.count()).isEqualTo(metersBefore);
			assertThat(heap).isLessThan(HEAP);
			assertThat(memory).isLessThan(keys * BYTES_PER_KEY);
			assertThat(keyspace.get("db0")).matches("keys=(\\d+),expires=\\1,.*");
			assertThat(keyspace.get("db0")).contains("keys=" + keys / 1_000);
			assertThat(Long.parseLong(redis.info("stats").get("evicted_keys"))).isPositive();
		}
	}

	/** Leaves no room for any more keys, and asks for some. */
	private static void evict(RedisServer redis, FaultCase fault) {
		redis.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
		redis.cli("CONFIG", "SET", "maxmemory", String.valueOf(memory(redis)));
		Attacker.of(fault).call("more", TOO_MANY);
	}

	private static long memory(RedisServer redis) {
		return Long.parseLong(redis.info("memory").get("used_memory"));
	}

}
