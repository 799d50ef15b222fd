package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;

import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is particular to Redis: scripts, expiry, foreign values, several requests in one
 * call. Time passes as it does: quotas by the day, whose windows hardly end in between.
 */
class RedisCountersIntegrationTests {

	/** For thousands of requests at once on a busy machine. */
	private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(1);

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
		Counter counter = counter(algorithm, "ann", "5/d");
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
			case GCRA, TOKEN_BUCKET -> 19_000;
			case FIXED_WINDOW, SLIDING_WINDOW_LOG -> 60_002;
			case SLIDING_WINDOW_COUNTER -> 120_002;
		};
		assertThat(ttl).isPositive().isLessThanOrEqualTo(atMost);
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_WINDOW_LOG")
	void expiryThatStillCoversTheStateIsLeftAlone(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "1000/d", "5000/7d");
		take(1, counter);
		take(200, counter);
		String before = this.redis.info("commandstats");
		Long expiry = this.redis.pexpiretime(bytes(counter.key()));
		take(1, counter);
		take(1, counter);
		String after = this.redis.info("commandstats");
		long renewed = calls(after, "pexpireat") + calls(after, "set") - calls(before, "pexpireat")
				- calls(before, "set");
		// A day's permit is 86 s: every take of gcra needs another expiry.
		assertThat(renewed).isEqualTo(algorithm.hasBurst() ? 2 : 0);
		assertThat(calls(after, "setrange")).isEqualTo(calls(before, "setrange") + 2);
		if (!algorithm.hasBurst()) {
			assertThat(this.redis.pexpiretime(bytes(counter.key()))).isEqualTo(expiry);
		}
	}

	@Test
	void noKeyOfALoadedServerIsWithoutExpiry() {
		List<CompletionStage<Grant>> grants = new ArrayList<>();
		for (Algorithm algorithm : Algorithm.values()) {
			for (int i = 0; i < 2_000; i++) {
				Counter user = counter(algorithm, "user-" + i % 700, "20/s", "300/h");
				Counter shared = counter(algorithm, "shared", "9000/m");
				grants.add(this.counters.acquire(List.of(user, shared), Permits.exactly(1 + i % 3), ANSWER_TIMEOUT));
				if (i % 5 == 0) {
					grants.add(this.counters.acquire(List.of(user), Permits.NONE, ANSWER_TIMEOUT));
				}
			}
		}
		grants.forEach((grant) -> join(grant, ANSWER_TIMEOUT));
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
		Counter user = counter(algorithm, "ann", "5/d");
		Counter shared = counter(algorithm, "shared", "7/d");
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
		assertThat(failure(counter).getMessage()).contains("limit 'per-user'").doesNotContain(counter.key());
		assertThat(this.redis.type(bytes(counter.key()))).isEqualTo("hash");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_WINDOW_LOG")
	void unreadableStringIsReportedAndLeftAlone(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		for (String foreign : List.of("", "nonsense", "12", "x".repeat(12), "x".repeat(14), "x".repeat(17),
				"x".repeat(18), "x".repeat(19), "\u00ff".repeat(12), "\u00ff".repeat(22), "x".repeat(2_562),
				"x".repeat(100_000))) {
			this.redis.set(bytes(counter.key()), bytes(foreign));
			assertThat(failure(counter).reason()).as(foreign).isEqualTo(Decision.Reason.CORRUPT);
			assertThat(this.redis.get(bytes(counter.key()))).isEqualTo(bytes(foreign));
		}
	}

	@Test
	void unreadableLogIsReportedAndLeftAlone() {
		Counter counter = counter(Algorithm.SLIDING_WINDOW_LOG, "ann", "5/m");
		this.redis.rpush(bytes(counter.key()), bytes("nonsense"));
		assertThat(failure(counter).reason()).isEqualTo(Decision.Reason.CORRUPT);
		assertThat(this.redis.llen(bytes(counter.key()))).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void oneCallDecidesSeveralRequestsInTheirOrder(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "3/d");
		Counter bob = counter(algorithm, "bob", "1/d");
		List<ScriptCall.Outcome> outcomes = join(this.counters.call(new ScriptCall(List.of(request(1, ann, bob),
				request(1, ann, bob), request(2, ann), request(1, ann), request(0, bob)))));
		assertThat(outcomes).extracting(ScriptCall.Outcome::taken).containsExactly(1L, 0L, 2L, 0L, 0L);
		assertThat(only(take(0, ann)).remaining()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void foreignValueOfOneRequestDoesNotFailItsNeighbours(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "3/d");
		Counter bob = counter(algorithm, "bob", "3/d");
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
		for (String write : List.of("set", "setrange", "msetnx", "pexpireat", "pexpire", "rpush")) {
			assertThat(calls(after, write)).as(write).isEqualTo(calls(before, write));
		}
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

	private UnansweredException failure(Counter counter) {
		return unanswered(this.counters.acquire(List.of(counter), Permits.exactly(1))).cause();
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

}
