package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is particular to Redis: scripts, expiry, foreign values, several requests in one
 * call.
 */
class RedisCountersIntegrationTests {

	/** For thousands of requests at once on a busy machine. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private RedisCounters counters;

	private RedisCommands<byte[], byte[]> redis;

	@BeforeEach
	void start() {
		this.counters = Connections.standalone();
		this.redis = Connections.standaloneConnection().sync();
	}

	@ParameterizedTest
	@EnumSource
	void decidesByTheClockOfRedis(Algorithm algorithm) {
		long before = micros(this.redis.time());
		Grant grant = take(1, counter(algorithm, "ann", "5/m"));
		long after = micros(this.redis.time());
		assertThat(grant.readings().get(0).time()).isBetween(before, after);
	}

	@ParameterizedTest
	@EnumSource
	void loadsTheScriptAgainAfterAScriptFlush(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		take(1, counter);
		this.redis.scriptFlush();
		assertThat(only(take(1, counter)).remaining()).isEqualTo(3);
		assertThat(this.redis.scriptExists(LuaScript.of(algorithm).sha())).containsExactly(true);
	}

	@ParameterizedTest
	@EnumSource
	void keyExpiresSoonAfterItsStateStopsToMatter(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		take(3, counter);
		long ttl = this.redis.pttl(bytes(counter.key()));
		long atMost = switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> 18_002;
			case FIXED_WINDOW, SLIDING_WINDOW_LOG -> 60_002;
			case SLIDING_WINDOW_COUNTER -> 120_002;
		};
		assertThat(ttl).isPositive().isLessThanOrEqualTo(atMost);
	}

	@Test
	void noKeyOfALoadedServerIsWithoutExpiry() {
		List<CompletionStage<Grant>> grants = new ArrayList<>();
		for (Algorithm algorithm : Algorithm.values()) {
			for (int i = 0; i < 2_000; i++) {
				Counter user = counter(algorithm, "user-" + i % 700, "20/s", "300/h");
				Counter shared = counter(algorithm, "shared", "9000/m");
				grants.add(this.counters.acquire(List.of(user, shared), Permits.exactly(1 + i % 3), PATIENCE));
				if (i % 5 == 0) {
					grants.add(this.counters.acquire(List.of(user), Permits.NONE, PATIENCE));
				}
			}
		}
		grants.forEach((grant) -> join(grant, PATIENCE));
		grants.forEach((grant) -> {
			Grant granted = join(grant);
			if (granted.permits() % 2 == 1) {
				join(this.counters.giveBack(granted, granted.permits()));
			}
		});
		List<byte[]> keys = this.redis.keys(bytes("*"));
		assertThat(keys.size()).isGreaterThan(3_000);
		assertThat(keys.stream().filter((key) -> this.redis.pttl(key) == -1).count()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void counterThatWasEvictedStartsFull(Algorithm algorithm) {
		Counter user = counter(algorithm, "ann", "5/m");
		Counter shared = counter(algorithm, "shared", "7/m");
		Grant grant = take(3, user, shared);
		this.redis.del(bytes(user.key()));
		assertThat(take(1, user, shared).statuses()).extracting(LimitStatus::remaining).containsExactly(4L, 3L);
		this.redis.del(bytes(shared.key()));
		join(this.counters.giveBack(grant, 3));
		assertThat(take(1, user, shared).permits()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void foreignTypeIsReportedAndLeftAlone(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		this.redis.hset(bytes(counter.key()), bytes("field"), bytes("value"));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> take(1, counter))
			.withCauseInstanceOf(UnansweredException.class)
			.withMessageContaining("limit 'per-user'")
			.withMessageNotContaining(counter.key());
		assertThat(this.redis.type(bytes(counter.key()))).isEqualTo("hash");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_WINDOW_LOG")
	void unreadableStringIsReportedAndLeftAlone(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		for (String foreign : List.of("", "nonsense", "12", "x".repeat(14), "x".repeat(18), "x".repeat(19),
				"\u00ff".repeat(22), "x".repeat(100_000))) {
			this.redis.set(bytes(counter.key()), bytes(foreign));
			assertThatExceptionOfType(CompletionException.class).as(foreign)
				.isThrownBy(() -> take(1, counter))
				.withCauseInstanceOf(UnansweredException.class);
			assertThat(this.redis.get(bytes(counter.key()))).isEqualTo(bytes(foreign));
		}
	}

	@Test
	void unreadableLogIsReportedAndLeftAlone() {
		Counter counter = counter(Algorithm.SLIDING_WINDOW_LOG, "ann", "5/m");
		this.redis.rpush(bytes(counter.key()), bytes("nonsense"));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> take(1, counter))
			.withCauseInstanceOf(UnansweredException.class);
		assertThat(this.redis.llen(bytes(counter.key()))).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void oneCallDecidesSeveralRequestsInTheirOrder(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "3/m");
		Counter bob = counter(algorithm, "bob", "1/m");
		List<ScriptCall.Outcome> outcomes = join(this.counters.call(new ScriptCall(List.of(request(1, ann, bob),
				request(1, ann, bob), request(2, ann), request(1, ann), request(0, bob)))));
		assertThat(outcomes).extracting(ScriptCall.Outcome::taken).containsExactly(1L, 0L, 2L, 0L, 0L);
		assertThat(only(take(0, ann)).remaining()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void foreignValueOfOneRequestDoesNotFailItsNeighbours(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "3/m");
		Counter bob = counter(algorithm, "bob", "3/m");
		this.redis.hset(bytes(bob.key()), bytes("field"), bytes("value"));
		List<ScriptCall.Outcome> outcomes = join(
				this.counters.call(new ScriptCall(List.of(request(1, ann), request(1, ann, bob), request(1, ann)))));
		assertThat(outcomes).extracting(ScriptCall.Outcome::taken).containsExactly(1L, -1L, 1L);
		assertThat(only(take(0, ann)).remaining()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void refusalWritesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "1/d");
		take(1, counter);
		String before = this.redis.info("commandstats");
		take(1, counter);
		String after = this.redis.info("commandstats");
		assertThat(calls(after, "set")).isEqualTo(calls(before, "set"));
		assertThat(calls(after, "rpush")).isEqualTo(calls(before, "rpush"));
	}

	@Test
	void logKeepsOneEntryPerRequestWhateverItsCost() {
		Counter counter = counter(Algorithm.SLIDING_WINDOW_LOG, "ann", "10000/h");
		IntStream.range(0, 10).forEach((i) -> take(900, counter));
		assertThat(this.redis.llen(bytes(counter.key()))).isLessThanOrEqualTo(10);
		assertThat(take(1_001, counter).refused()).isTrue();
		assertThat(take(1_000, counter).permits()).isEqualTo(1_000);
	}

	@Test
	void givingBackBehindHundredsOfEntriesIsExact() {
		Counter counter = counter(Algorithm.SLIDING_WINDOW_LOG, "ann", "10000/d");
		Grant first = take(7, counter);
		// One by one: requests that wait together would share an entry.
		IntStream.range(0, 400).forEach((i) -> take(1, counter));
		assertThat(this.redis.llen(bytes(counter.key()))).isEqualTo(401);
		join(this.counters.giveBack(first, 7));
		assertThat(only(take(0, counter)).remaining()).isEqualTo(9_600);
	}

	static ScriptCall.Entry request(long cost, Counter... counters) {
		return new ScriptCall.Entry(List.of(counters), Permits.exactly(cost), 0);
	}

	static Counter counter(Algorithm algorithm, String user, String... quotas) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), quotas);
		return new Counter(new CounterSpec(algorithm, limit),
				new CounterKeys("rl").key("test", algorithm, limit, List.of(user)));
	}

	private Grant take(long cost, Counter... counters) {
		return join(this.counters.acquire(List.of(counters), Permits.exactly(cost)));
	}

	private static LimitStatus only(Grant grant) {
		assertThat(grant.statuses()).hasSize(1);
		return grant.statuses().get(0);
	}

	private static long calls(String commandstats, String command) {
		return commandstats.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
			.findFirst()
			.orElse(0);
	}

	private static long micros(List<byte[]> time) {
		return Long.parseLong(new String(time.get(0), StandardCharsets.US_ASCII)) * Duration.ofSeconds(1).toMillis()
				* 1_000 + Long.parseLong(new String(time.get(1), StandardCharsets.US_ASCII));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	static <T> T join(CompletionStage<T> stage) {
		return join(stage, Duration.ofSeconds(10));
	}

	private static <T> T join(CompletionStage<T> stage, Duration timeout) {
		return stage.toCompletableFuture().orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join();
	}

}
