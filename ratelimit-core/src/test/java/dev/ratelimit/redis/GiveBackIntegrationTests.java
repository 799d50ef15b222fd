package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;

import static dev.ratelimit.counter.Grants.answered;
import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Permits are given back at the time at which each counter granted them.
 */
class GiveBackIntegrationTests {

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	private final RedisCounters redis = Connections.standalone().at(this.micros::get);

	@ParameterizedTest
	@EnumSource
	void permitOfAStrictLimitComesBackAlsoIfTheLeaseBesideItIsOlderThanItsWindow(Algorithm algorithm) {
		Counter leased = counter(algorithm, Enforcement.LEASED, "acme", "1000/h");
		Counter strict = counter(algorithm, Enforcement.STRICT, "ann", "100/m");
		AtomicLong nanos = new AtomicLong(1_000_000_000L);
		try (LeasedCounters counters = new LeasedCounters(Connections.guarded(this.redis), LeaseOptions.DEFAULTS,
				() -> 1, (counter) -> true, (permits) -> {
				}, nanos::get, FakeCounters.NEVER)) {
			await().atMost(Duration.ofSeconds(10)).until(() -> {
				nanos.addAndGet(1_000_000);
				return take(counters, leased).source() == Decision.Source.LEASE;
			});
			this.micros.addAndGet(61_000_000);
			Grant mixed = take(counters, leased, strict);
			assertThat(mixed.readings()).extracting(Reading::time).doesNotHaveDuplicates();
			assertThat(remaining(strict)).isEqualTo(99);
			join(counters.giveBack(mixed, 1));
			assertThat(remaining(strict)).isEqualTo(100);
		}
	}

	@ParameterizedTest
	@EnumSource
	void readingsOfDifferentTimesAreGivenBackEachAtItsOwn(Algorithm algorithm) {
		List<Counter> counters = List.of(counter(algorithm, Enforcement.STRICT, "ann", "10/m"),
				counter(algorithm, Enforcement.STRICT, "bob", "10/m"),
				counter(algorithm, Enforcement.STRICT, "carl", "10/h"));
		List<Reading> readings = counters.stream().flatMap((counter) -> {
			this.micros.addAndGet(45_000_000);
			return take(this.redis, counter).readings().stream();
		}).toList();
		this.micros.addAndGet(5_000_000);
		join(this.redis.giveBack(grant(readings), 1));
		assertThat(remaining(counters.get(1))).isEqualTo(10);
		assertThat(remaining(counters.get(2))).isEqualTo(10);
	}

	@Test
	void deepGiveBacksOfSeveralLogsDoNotShareACall() {
		List<Counter> logs = counters(Algorithm.SLIDING_WINDOW_LOG);
		Grant grant = take(this.redis, logs.toArray(Counter[]::new));
		long before = evals();
		join(this.redis.giveBack(grant, 1));
		assertThat(evals() - before).isEqualTo(4);
		assertThat(logs).allSatisfy((log) -> assertThat(remaining(log)).isEqualTo(1_000));
	}

	@Test
	void logsOfOneRecordDoNotShareACall() {
		List<Counter> logs = counters(Algorithm.SLIDING_WINDOW_LOG);
		releaseOnce(logs);
		Attempt attempt = new Attempt("ann", 60_000_000, 3);
		Grant grant = take(attempt, logs);
		Grant again = take(attempt, logs);
		long before = evals();
		join(this.redis.giveBack(again, 1));
		assertThat(evals() - before).isOne();
		assertThat(logs).allSatisfy((log) -> assertThat(remaining(log)).isEqualTo(999));
		before = evals();
		join(this.redis.giveBack(grant, 1));
		assertThat(evals() - before).isEqualTo(4);
		assertThat(logs).allSatisfy((log) -> assertThat(remaining(log)).isEqualTo(1_000));
	}

	@Test
	void otherCountersOfOneRecordShareACall() {
		List<Counter> counters = counters(Algorithm.GCRA);
		releaseOnce(counters);
		Grant grant = take(new Attempt("ann", 60_000_000, 3), counters);
		long before = evals();
		join(this.redis.giveBack(grant, 1));
		assertThat(evals() - before).isOne();
		assertThat(counters).allSatisfy((counter) -> assertThat(remaining(counter)).isEqualTo(1_000));
	}

	/** So that Redis has the script: its first call is sent twice. */
	private void releaseOnce(List<Counter> counters) {
		join(this.redis.giveBack(take(new Attempt("first", 60_000_000, 3), counters), 1));
	}

	private Grant take(Attempt attempt, List<Counter> from) {
		CompletableFuture<Grant> grant = new CompletableFuture<>();
		this.redis.acquire(from, Permits.exactly(1), attempt, Counters.DEFAULT_TIMEOUT, grant::complete);
		return answered(grant);
	}

	private static List<Counter> counters(Algorithm algorithm) {
		return IntStream.range(0, 4)
			.mapToObj((i) -> counter(algorithm, Enforcement.STRICT, "user-" + i, "1000/h"))
			.toList();
	}

	@Test
	void giveBacksOfOneGrantShareACallWhereTheyAreCheap() {
		List<Counter> counters = IntStream.range(0, 20)
			.mapToObj((i) -> counter(Algorithm.GCRA, Enforcement.STRICT, "user-" + i, "1000/h"))
			.toList();
		Grant grant = take(this.redis, counters.toArray(Counter[]::new));
		long before = evals();
		join(this.redis.giveBack(grant, 1));
		assertThat(evals() - before).isOne();
		assertThat(counters).allSatisfy((counter) -> assertThat(remaining(counter)).isEqualTo(1_000));
	}

	private long remaining(Counter counter) {
		return join(this.redis.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
	}

	private static long evals() {
		String statistics = Connections.standaloneConnection().sync().info("commandstats");
		return Stream.of("evalsha", "eval").mapToLong((command) -> calls(statistics, command)).sum();
	}

	private static long calls(String statistics, String command) {
		return statistics.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
			.findFirst()
			.orElse(0);
	}

	private static Grant take(Counters counters, Counter... from) {
		return answered(counters.acquire(List.of(from), Permits.exactly(1)));
	}

	private static Grant grant(List<Reading> readings) {
		return new Grant(Permits.exactly(1), 1, readings, Decision.Source.REDIS);
	}

	private static Counter counter(Algorithm algorithm, Enforcement enforcement, String user, String quota) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), quota);
		return new Counter(new CounterSpec(algorithm, limit, enforcement, new LiveWindows()),
				new CounterKeys("rl").key("test", algorithm, limit, List.of(user)));
	}

}
