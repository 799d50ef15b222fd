package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.Times;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * How soon a change is enforced by the last of many applications that have many policies
 * and overrides, without the pauses of this machine, which all of them and Redis share.
 *
 * <p>
 * With {@code -Dratelimit.control=long} there are 20 applications with 10,000 policies
 * and as many overrides, and 100 writes.
 */
@Tag("alone")
class PolicyFleetIntegrationTests {

	private static final boolean LONG = "long".equals(System.getProperty("ratelimit.control"));

	private static final int INSTANCES = LONG ? 20 : 4;

	/** As many policies, and as many overrides. */
	private static final int EACH = LONG ? 10_000 : 200;

	private static final int PAGE = 200;

	private static final Duration PUSHED = Duration.ofMillis(500);

	private static final Duration POLLED = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Author ANN = new Author("ann", "because");

	/** What was never written before. */
	private static final AtomicLong PERMITS = new AtomicLong(100_000);

	private static RedisServer redis;

	private static ApplicationFleet fleet;

	@BeforeAll
	static void load() {
		redis = RedisServer.start();
		fleet = new ApplicationFleet(redis);
		fleet.growTo(1);
		PolicyStore store = fleet.get(0).getBean(PolicyStore.class);
		for (int first = 0; first < EACH; first += PolicyStore.MAX_EDITS) {
			List<Edit> page = IntStream.range(first, first + PolicyStore.MAX_EDITS)
				.mapToObj((number) -> new Edit(RecordIds.policy(policy(number)),
						"""
								{"policy": {"description": "API number %d", "owner": "team-%d", "limits": {
								"per-tenant": {"by": "tenant", "quota": ["100/s burst 200", "3000/m"]}},
								"tiers": {"pro": {"limits": {"per-tenant": ["500/s", "20000/m"]}}}}}"""
							.formatted(number, number % 50),
						null))
				.toList();
			join(store.write(page, Seen.NOTHING, "ann", "import"));
		}
		until(() -> fleet.all((policies) -> policies.ids().size() == EACH));
		for (int first = 0; first < EACH; first += PAGE) {
			join(fleet.control(0)
				.writeAll(IntStream.range(first, first + PAGE)
					.mapToObj((number) -> override(number, 10 + number))
					.toList(), ANN, (written) -> {
					}));
		}
		fleet.growTo(INSTANCES - 1);
		long start = System.nanoTime();
		fleet.growTo(INSTANCES);
		System.out.printf("  start of the last of %d: %d ms%n", INSTANCES,
				Duration.ofNanos(System.nanoTime() - start).toMillis());
	}

	@AfterAll
	static void end() {
		fleet.close();
		redis.close();
	}

	@Test
	void writeIsEnforcedByTheLastInstanceInHalfASecond() {
		Times times = write(LONG ? 100 : 20);
		System.out.printf("  pushed to %d: %s%n", INSTANCES, times);
		assertThat(times.p99()).isLessThanOrEqualTo(PUSHED);
	}

	@Test
	void writeThatNobodyIsToldOfIsEnforcedByTheLastInstanceInTenSeconds() {
		redis.cli("ACL", "SETUSER", "default", "-subscribe");
		try {
			redis.cli("CLIENT", "KILL", "TYPE", "pubsub");
			assertThat(redis.cli("PUBSUB", "CHANNELS")).isEmpty();
			Times times = write(LONG ? 10 : 1);
			System.out.printf("  found by %d: %s%n", INSTANCES, times);
			assertThat(times.most()).isLessThanOrEqualTo(POLLED);
			assertThat(redis.cli("PUBSUB", "CHANNELS")).isEmpty();
		}
		finally {
			redis.cli("ACL", "SETUSER", "default", "+subscribe");
			until(() -> redis.cli("PUBSUB", "NUMSUB", "rl:signals").endsWith("" + INSTANCES));
		}
	}

	/** Policies and overrides in turn, each until the last instance goes by it. */
	private static Times write(int writes) {
		List<Duration> times = new ArrayList<>();
		for (int i = 0; i < writes; i++) {
			int number = i * 97 % EACH;
			long permits = PERMITS.incrementAndGet();
			boolean whole = i % 2 == 0;
			Request request = Request.of(policy(number)).with(Dimension.TENANT, whole ? "other" : tenant(number));
			long start = Pauses.now();
			if (whole) {
				join(fleet.control(0)
					.writePolicy(policy(number), ControlPlaneIntegrationTests.limits(permits + "/h"), null, ANN));
			}
			else {
				join(fleet.control(0).write(override(number, permits), ANN));
			}
			until(() -> fleet.enforces(request, permits));
			times.add(Pauses.without(start));
		}
		return Times.of(times);
	}

	private static String policy(int number) {
		return "api-" + number;
	}

	private static String tenant(int number) {
		return "tenant-" + number;
	}

	private static Change override(int number, long permits) {
		return new Change(RecordIds.override(policy(number), Dimension.TENANT, tenant(number)),
				Map.of("limits", Map.of("per-tenant", permits + "/h")), null);
	}

	/** Looks closely: the time is what is measured. */
	private static void until(BooleanSupplier condition) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).as("not within %s", PATIENCE).isLessThan(end);
			LockSupport.parkNanos(100_000);
		}
	}

}
