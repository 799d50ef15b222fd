package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.testing.Stages;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long full calls hold Redis, as a number of plain checks: where a plain check takes
 * 8 µs, 120 of them are a millisecond. The times are those of Redis's own statistics,
 * which its slow log shows too; but a slow log that has all calls also has the commands
 * within them, and takes as long to write as they do. They include the time in which a
 * busy machine lets Redis wait, so checks and full calls take turns, and the best of each
 * counts: in one of many turns a single call is not interrupted. Checks are so short that
 * several are sent in a row. What was measured is printed.
 */
class WorkIntegrationTests {

	private static final Pattern USEC = Pattern.compile("cmdstat_evalsha:calls=\\d+,usec=(\\d+)");

	private static final int MOST_CHECKS = 120;

	private static final int RUNS = 40;

	private static final int CHECKS_IN_A_ROW = 30;

	private static final int DEEPEST_GIVE_BACK = 400;

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	/** Every call has a time of its own, so no two requests share an entry of a log. */
	private final RedisCounters counters = Connections.standalone().at(this.micros::incrementAndGet);

	private final RedisCommands<byte[], byte[]> redis = Connections.standaloneConnection().sync();

	static Stream<Arguments> strings() {
		return Stream.of(Algorithm.values())
			.filter((algorithm) -> algorithm != Algorithm.SLIDING_WINDOW_LOG)
			.flatMap((algorithm) -> Stream.of(1, 3, Limit.MAX_QUOTAS).map((quotas) -> Arguments.of(algorithm, quotas)));
	}

	@ParameterizedTest
	@MethodSource("strings")
	void fullCallOfChecksIsBounded(Algorithm algorithm, int quotas) {
		assertBounded(full((user) -> taking(2, counter(algorithm, user, quotas))));
	}

	@ParameterizedTest
	@MethodSource("strings")
	void fullCallOfGiveBacksIsBounded(Algorithm algorithm, int quotas) {
		assertBounded(full((user) -> givingBack(counter(algorithm, user, quotas), this.micros.get())));
	}

	@ParameterizedTest
	@MethodSource("strings")
	void largestRequestOfAPolicyIsBounded(Algorithm algorithm, int quotas) {
		assertBounded(alone(taking(2, counters(algorithm, Policy.MAX_LIMITS, quotas))));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 4, Limit.MAX_QUOTAS })
	void fullCallOfRefusalsByFullLogsIsBounded(int quotas) {
		byte[] log = log(Policy.MAX_LOG_PERMITS);
		assertBounded(full((user) -> taking(2, copy(log, user, quotas))));
	}

	/**
	 * Admissions remove 100 entries each that the caller's own window has left, and that
	 * other callers with up to eight more windows do not need.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 0, 8 })
	void fullCallOfAdmissionsByFullLogsIsBounded(int windowsOfOthers) {
		byte[] log = log(Policy.MAX_LOG_PERMITS);
		this.micros.addAndGet(11_000_000);
		LiveWindows live = new LiveWindows();
		live.set(IntStream.range(0, windowsOfOthers)
			.mapToObj((i) -> LiveWindow.of(Quota.of(10, Duration.ofDays(i + 1))))
			.toList());
		Limit limit = new Limit("per-user", List.of(Dimension.USER),
				List.of(Quota.of(Policy.MAX_LOG_PERMITS, Duration.ofSeconds(10))));
		CounterSpec spec = new CounterSpec(Algorithm.SLIDING_WINDOW_LOG, limit, Enforcement.STRICT, live);
		ScriptCall call = full((user) -> taking(2, copy(log, user, spec)));
		assertBounded(call);
		assertThat(this.redis.llen(call.keys()[0])).isLessThan(Policy.MAX_LOG_PERMITS - 50 * RUNS);
	}

	@ParameterizedTest
	@CsvSource({ "1, 8", "2, 4", "5, 1" })
	void refusalOfALargestRequestByFullLogsIsBounded(int limits, int quotas) {
		byte[] log = log(Policy.MAX_LOG_PERMITS);
		assertBounded(alone(taking(2,
				IntStream.range(0, limits).mapToObj((user) -> copy(log, user, quotas)).toArray(Counter[]::new))));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, Limit.MAX_QUOTAS })
	void fullCallOfDeepGiveBacksIsBounded(int quotas) {
		byte[] log = log(Policy.MAX_LOG_PERMITS - RUNS - DEEPEST_GIVE_BACK);
		Counter source = new Counter(spec(Algorithm.SLIDING_WINDOW_LOG, 1), text(log));
		join(this.counters.call(new Batch(taking(RUNS, source), 0).call()));
		long since = this.micros.get();
		fill(source, DEEPEST_GIVE_BACK);
		ScriptCall call = full((user) -> givingBack(copy(log, user, quotas), since));
		assertBounded(call);
		assertThat(this.redis.llen(call.keys()[0])).isEqualTo(Policy.MAX_LOG_PERMITS - RUNS);
	}

	private void assertBounded(ScriptCall call) {
		// Two permits take the way of all requests of a shared call: a lone request of a
		// single permit has a shorter one.
		ScriptCall plain = alone(taking(2, counter(Algorithm.GCRA, 1_000, 1)));
		// So that no run has a call that finds its script missing.
		Stream.of(plain, call).map((first) -> first.script().text()).forEach(this.redis::scriptLoad);
		double check = Double.MAX_VALUE;
		double full = Double.MAX_VALUE;
		for (int i = 0; i < RUNS; i++) {
			check = Math.min(check, micros(plain, CHECKS_IN_A_ROW));
			full = Math.min(full, micros(call, 1));
		}
		System.out.printf("%s, %d quotas, %d requests, %d counters: %.0f µs, as long as %.0f checks%n",
				call.counter().spec().algorithm().text(), call.counter().spec().limit().quotas().size(),
				call.entries().size(), call.keys().length, full, full / check);
		assertThat(full / check).isLessThanOrEqualTo(MOST_CHECKS);
	}

	/** The mean of several calls in a row. */
	private double micros(ScriptCall call, int times) {
		long before = microsOfCalls();
		List<CompletionStage<List<ScriptCall.Outcome>>> calls = new ArrayList<>();
		for (int i = 0; i < times; i++) {
			calls.add(this.counters.call(call));
		}
		calls.forEach(Stages::join);
		return (double) (microsOfCalls() - before) / times;
	}

	private long microsOfCalls() {
		Matcher statistics = USEC.matcher(this.redis.info("commandstats"));
		return statistics.find() ? Long.parseLong(statistics.group(1)) : 0;
	}

	/** As many requests as a lane puts into one call. */
	private static ScriptCall full(IntFunction<PendingAcquire> requests) {
		Batch batch = new Batch(requests.apply(0), 0);
		int next = 1;
		while (batch.offer(requests.apply(next))) {
			next++;
		}
		return batch.call();
	}

	private static ScriptCall alone(PendingAcquire request) {
		return new Batch(request, 0).call();
	}

	private static PendingAcquire taking(long cost, Counter... counters) {
		return new PendingAcquire(List.of(counters), Permits.exactly(cost), 0, Duration.ofMinutes(1));
	}

	private static PendingAcquire givingBack(Counter counter, long since) {
		return new PendingAcquire(List.of(counter), Permits.exactly(1), since, Duration.ofMinutes(1));
	}

	/** The key of a log with that many entries. */
	private byte[] log(long entries) {
		Counter counter = new Counter(spec(Algorithm.SLIDING_WINDOW_LOG, 1), "full-log");
		fill(counter, entries);
		byte[] key = bytes(counter.key());
		assertThat(this.redis.llen(key)).isEqualTo(entries);
		return key;
	}

	private void fill(Counter log, long entries) {
		// The first one by itself, in case Redis has to load the script.
		join(this.counters.call(alone(taking(1, log))));
		List<CompletionStage<List<ScriptCall.Outcome>>> calls = new ArrayList<>();
		for (long i = 1; i < entries; i++) {
			calls.add(this.counters.call(alone(taking(1, log))));
		}
		calls.forEach(Stages::join);
	}

	/** A counter of which the log is a copy. */
	private Counter copy(byte[] log, int user, int quotas) {
		return copy(log, user, spec(Algorithm.SLIDING_WINDOW_LOG, quotas));
	}

	private Counter copy(byte[] log, int user, CounterSpec spec) {
		Counter counter = counter(spec, user);
		this.redis.copy(log, bytes(counter.key()));
		return counter;
	}

	private static Counter[] counters(Algorithm algorithm, int count, int quotas) {
		return IntStream.range(0, count).mapToObj((user) -> counter(algorithm, user, quotas)).toArray(Counter[]::new);
	}

	private static Counter counter(Algorithm algorithm, int user, int quotas) {
		return counter(spec(algorithm, quotas), user);
	}

	private static Counter counter(CounterSpec spec, int user) {
		return new Counter(spec,
				new CounterKeys("rl").key("test", spec.algorithm(), spec.limit(), List.of("user-" + user)));
	}

	private static CounterSpec spec(Algorithm algorithm, int quotas) {
		return new CounterSpec(algorithm,
				new Limit("per-user", List.of(Dimension.USER),
						IntStream.range(0, quotas)
							.mapToObj((i) -> Quota.of(Policy.MAX_LOG_PERMITS, Duration.ofDays(i + 1)))
							.toList()));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.ISO_8859_1);
	}

}
