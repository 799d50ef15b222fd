package dev.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.HashedWheelTimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a fleet does to a Redis that comes back.
 */
@Tag("alone")
class ReconnectIntegrationTests {

	private static final int CLIENTS = 50;

	/** How often a client has tried in vain, on average, before Redis is back. */
	private static final int ATTEMPTS = 6;

	/** A pause so long gathers the attempts of so long around it. */
	private static final Duration PAUSE = Duration.ofMillis(20);

	private static final Duration FRESH = Duration.ofMillis(100);

	private final RedisServer redis = RedisServer.start();

	private final ChaosProxy proxy = ChaosProxy.before(this.redis);

	private final ClientResources threads = ClientResources.create();

	private final List<HashedWheelTimer> timers = new ArrayList<>();

	private final List<RedisConnector> connectors = new ArrayList<>();

	@AfterEach
	void close() {
		this.connectors.forEach(RedisConnector::close);
		this.proxy.close();
		this.redis.close();
		this.timers.forEach(HashedWheelTimer::stop);
		this.threads.shutdown();
	}

	@Test
	void fiftyClientsComeBackSoonAndNotAtOnce() {
		IntStream.range(0, CLIENTS).forEach((i) -> connect());
		assertThat(this.connectors).allMatch(ReconnectIntegrationTests::connected);
		// Begins to watch.
		Pauses.now();
		Instant outage = Instant.now();
		this.proxy.refuse();
		await().atMost(Duration.ofMinutes(1)).until(() -> attempts(outage).size() >= ATTEMPTS * CLIENTS);
		Instant back = Instant.now();
		this.proxy.heal();
		await().atMost(Duration.ofMinutes(1))
			.pollInterval(Duration.ofMillis(10))
			.until(() -> this.connectors.stream().allMatch(ReconnectIntegrationTests::connected));
		Duration recovered = Duration.between(back, Instant.now());
		report(outage, back, recovered);
		assertThat(busiest(undisturbed(attempts(outage)))).as("attempts within 10 ms").isLessThanOrEqualTo(CLIENTS / 2);
		assertThat(Duration.between(outage, back)).as("pauses that grow").isGreaterThan(Duration.ofSeconds(1));
	}

	private List<Instant> attempts(Instant since) {
		return this.proxy.accepted().stream().filter((attempt) -> attempt.isAfter(since)).toList();
	}

	/** Without those that a pause of the machine has gathered. */
	private static List<Instant> undisturbed(List<Instant> attempts) {
		long end = Pauses.now();
		Instant now = Instant.now();
		return attempts.stream().filter((attempt) -> {
			long time = end - Duration.between(attempt, now).toNanos();
			return Pauses.between(time - FRESH.toNanos(), time + FRESH.toNanos()).compareTo(PAUSE) < 0;
		}).toList();
	}

	private void connect() {
		HashedWheelTimer timer = new HashedWheelTimer();
		this.timers.add(timer);
		// A timer of its own each, as in processes of their own: it ticks every 100 ms.
		ClientResources resources = ClientSettings.resources(this.threads.mutate().timer(timer).build());
		RedisURI uri = this.proxy.uri();
		uri.setTimeout(ClientSettings.COMMAND_TIMEOUT);
		RedisClient client = RedisClient.create(resources, uri);
		client.setOptions(ClientSettings.options(ClientOptions.create()));
		RedisConnector connector = RedisConnector.to(client, "redis");
		this.connectors.add(connector);
		assertThat(connector.start(Duration.ofSeconds(10))).isTrue();
	}

	private static boolean connected(RedisConnector connector) {
		return connector.commands() != null;
	}

	private void report(Instant outage, Instant back, Duration recovered) {
		List<Instant> attempts = attempts(outage);
		System.out.printf(
				"%n%d clients, outage of %d ms: %d attempts, per tenth of a second %s, at most %d within 10 ms; "
						+ "all back after %d ms%n",
				CLIENTS, Duration.between(outage, back).toMillis(), attempts.size(),
				counted(attempts, (attempt) -> Duration.between(outage, attempt).toMillis() / 100).values(),
				busiest(attempts), recovered.toMillis());
	}

	/** None if the machine paused all the time. */
	private static long busiest(List<Instant> attempts) {
		return counted(attempts, (attempt) -> attempt.toEpochMilli() / 10).values()
			.stream()
			.mapToLong(Long::longValue)
			.max()
			.orElse(0);
	}

	private static Map<Long, Long> counted(List<Instant> attempts, Function<Instant, Long> bucket) {
		return attempts.stream().collect(Collectors.groupingBy(bucket, TreeMap::new, Collectors.counting()));
	}

}
