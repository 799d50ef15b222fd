package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Times;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How soon instances have what is written in numbers. The whole fleet, the writer and
 * Redis share this machine, so that it shows more than a fleet would. How soon whole
 * applications enforce a write is measured where they are.
 *
 * <p>
 * With {@code -Dratelimit.control=long} there are 20 instances, 100,000 records, a burst
 * of 10,000 and a minute of 1,000 changes.
 */
@Tag("alone")
@ExtendWith(RedisServers.class)
class PolicyPropagationIntegrationTests {

	private static final boolean LONG = "long".equals(System.getProperty("ratelimit.control"));

	/** What is promised, without the pauses of this machine. */
	private static final Duration PROMISED = Duration.ofMillis(500);

	private final List<PolicyInstance> fleet = new ArrayList<>();

	@AfterEach
	void end() {
		this.fleet.forEach(PolicyInstance::close);
	}

	@Test
	void burstAndSteadyChangesKeepTheTime() {
		// The watch begins with the first call, before anything is measured.
		Pauses.now();
		int records = LONG ? 100_000 : 10_000;
		start(LONG ? 20 : 5, records);
		this.fleet.forEach((instance) -> instance.propagated.clear());
		int burst = LONG ? 10_000 : 1_000;
		RecordVersion last = load(burst, "{\"burst\": true}");
		awaitAll(last);
		assertThat(p99("burst of " + burst, propagated(burst))).isLessThan(PROMISED);
		int steady = LONG ? 1_000 : 50;
		long period = Duration.ofMinutes(1).toNanos() / 1_000;
		long next = System.nanoTime();
		for (int i = 0; i < steady; i++) {
			last = this.fleet.get(0).write(PolicyInstance.override(i * 7), "{\"steady\": " + i + "}");
			next += period;
			LockSupport.parkNanos(next - System.nanoTime());
		}
		awaitAll(last);
		assertThat(p99("1000 changes a minute", propagated(steady))).isLessThan(PROMISED);
	}

	private void start(int instances, int records) {
		this.fleet.add(new PolicyInstance(RedisServers.standalone()));
		RecordVersion last = load(records, "{\"limits\": {\"per-tenant\": [\"100/s burst 200\", \"3000/m\"]}}");
		for (int i = 1; i < instances; i++) {
			this.fleet.add(new PolicyInstance(RedisServers.standalone()));
		}
		awaitAll(last);
	}

	/** As an import does: page by page. */
	private RecordVersion load(int records, String body) {
		PolicyStore store = this.fleet.get(0).store;
		List<RecordVersion> written = List.of();
		for (int i = 0; i < records; i += PolicyStore.MAX_EDITS) {
			List<Edit> page = IntStream.range(i, Math.min(records, i + PolicyStore.MAX_EDITS))
				.mapToObj((number) -> new Edit(PolicyInstance.override(number), body, null))
				.toList();
			written = store.write(page, Seen.NOTHING, "ann", "import")
				.toCompletableFuture()
				.orTimeout(5, TimeUnit.SECONDS)
				.join();
		}
		return written.get(written.size() - 1);
	}

	private void awaitAll(RecordVersion written) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> this.fleet.stream().allMatch((instance) -> instance.has(written)));
	}

	/** By all instances; what was written over at once may not be among it. */
	private List<Duration> propagated(int atMost) {
		List<Duration> times = new ArrayList<>();
		for (PolicyInstance instance : this.fleet) {
			Awaitility.await().until(() -> !instance.propagated.isEmpty());
			assertThat(instance.propagated).hasSizeLessThanOrEqualTo(atMost);
			times.addAll(instance.propagated);
			instance.propagated.clear();
		}
		return times;
	}

	private static Duration p99(String what, List<Duration> times) {
		Times sorted = Times.of(times);
		System.out.printf("  %s: %s%n", what, sorted);
		return sorted.p99();
	}

}
