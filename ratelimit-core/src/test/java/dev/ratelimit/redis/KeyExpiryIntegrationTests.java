package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * When keys expire, over random schedules of callers with different quotas on the same
 * counters: never before their state stops to matter, which would be a free reset; at
 * most one step later; and a string of GCRA always tells the true expiry of its key,
 * since the next writer relies on it.
 */
class KeyExpiryIntegrationTests {

	private static final int CALLS = 40;

	private static final long DAY_MILLIS = 86_400_000;

	private static final List<List<String>> TIERS = List.of(List.of("10/s"), List.of("10/s burst 500"),
			List.of("7/3s", "90/m"), List.of("3/s", "100/m", "100/d"), List.of("5/9s burst 3"), List.of("600/m"));

	private final RedisCommands<byte[], byte[]> redis = Connections.standaloneConnection().sync();

	@Property(tries = 150, shrinking = ShrinkingMode.BOUNDED)
	void keyOutlivesItsStateByAtMostOneStep(@ForAll long seed) {
		Random random = new Random(seed);
		RedisCounters counters = Connections.standalone();
		Algorithm algorithm = algorithm(random);
		List<CounterSpec> callers = callers(algorithm, random);
		List<Grant> grants = new ArrayList<>();
		long slowest = 0;
		for (int call = 0; call < CALLS; call++) {
			long start = System.nanoTime();
			play(random, counters, callers, grants);
			slowest = Math.max(slowest, Duration.ofNanos(System.nanoTime() - start).toMillis());
			for (byte[] key : this.redis.keys(bytes("*"))) {
				Long expiry = this.redis.pexpiretime(key);
				byte[] value = this.redis.get(key);
				// A key may expire between the commands.
				if (value != null && expiry > 0) {
					assertExpiry(algorithm, value, expiry, slowest);
				}
				assertThat(expiry).isNotEqualTo(-1);
			}
		}
	}

	@Property(tries = 150, shrinking = ShrinkingMode.BOUNDED)
	void grantsAreThoseOfCountersThatNeverExpire(@ForAll long seed) {
		Random random = new Random(seed);
		AtomicLong now = new AtomicLong(1_700_000_000_000_000L);
		RedisCounters scripts = Connections.standalone().at(now::get);
		MemoryCounters model = new MemoryCounters(1_000, now::get);
		Algorithm algorithm = random.nextBoolean() ? Algorithm.GCRA : Algorithm.TOKEN_BUCKET;
		List<CounterSpec> callers = callers(algorithm, random);
		List<Grant> grants = new ArrayList<>();
		for (int call = 0; call < CALLS; call++) {
			now.addAndGet(switch (random.nextInt(8)) {
				case 0 -> 0;
				case 1 -> random.nextInt(90_000_000);
				case 2 -> -random.nextInt(20_000_000);
				default -> random.nextInt(2_000_000);
			});
			long replay = random.nextLong();
			int known = grants.size();
			play(new Random(replay), scripts, callers, grants);
			List<Grant> modelled = new ArrayList<>(grants.subList(0, known));
			play(new Random(replay), model, callers, modelled);
			for (int i = known; i < grants.size(); i++) {
				assertThat(grants.get(i).permits()).isEqualTo(modelled.get(i).permits());
				assertThat(grants.get(i).statuses()).isEqualTo(modelled.get(i).statuses());
			}
			for (byte[] key : this.redis.keys(bytes("*"))) {
				State state = State.of(this.redis.get(key));
				assertThat(state.slack()).isBetween(1L, state.longestStep());
				assertThat(this.redis.pttl(key)).isGreaterThan(DAY_MILLIS - 60_000);
			}
		}
	}

	private static void play(Random random, Counters counters, List<CounterSpec> callers, List<Grant> grants) {
		CounterSpec spec = callers.get(random.nextInt(callers.size()));
		List<Counter> asked = Stream.of("ann", "bob")
			.limit(1 + random.nextInt(2))
			.map((user) -> new Counter(spec, user))
			.toList();
		long burst = spec.limit().largestCost();
		int kind = random.nextInt(10);
		long cost = 1 + random.nextInt((int) (random.nextBoolean() ? burst : Math.min(3, burst)));
		if (kind == 0) {
			join(counters.acquire(asked, Permits.NONE));
		}
		else if (kind == 1 && !grants.isEmpty()) {
			Grant grant = grants.get(random.nextInt(grants.size()));
			if (grant.permits() > 0) {
				join(counters.giveBack(grant, 1 + random.nextInt((int) grant.permits())));
			}
		}
		else {
			Permits permits = (kind == 2) ? Permits.between(1, cost) : Permits.exactly(cost);
			grants.add(join(counters.acquire(asked, permits)));
		}
	}

	// Redis 7.0 sets an expiry from the time of the command, which is late by the pauses
	// of
	// its process since the script read the time.
	private static void assertExpiry(Algorithm algorithm, byte[] value, long expiry, long slowest) {
		if (algorithm.hasBurst()) {
			State state = State.of(value);
			assertThat(expiry % 65_536).isEqualTo(state.expiry());
			assertThat(expiry - state.latestMillis()).isBetween(1L, state.longestStep());
		}
		else {
			int width = (algorithm == Algorithm.FIXED_WINDOW) ? 14 : 18;
			long latest = 0;
			for (int at = 0; at < value.length; at += width) {
				latest = Math.max(latest, (long) buffer(value).getDouble(at));
			}
			assertThat(expiry - latest / 1_000).isBetween(1L, 100 + slowest);
		}
	}

	private static Algorithm algorithm(Random random) {
		return List
			.of(Algorithm.GCRA, Algorithm.TOKEN_BUCKET, Algorithm.GCRA, Algorithm.FIXED_WINDOW,
					Algorithm.SLIDING_WINDOW_COUNTER)
			.get(random.nextInt(5));
	}

	private static List<CounterSpec> callers(Algorithm algorithm, Random random) {
		List<Limit> limits = random.ints(1 + random.nextInt(3), 0, TIERS.size())
			.mapToObj((tier) -> TIERS.get(tier)
				.stream()
				.map((quota) -> algorithm.hasBurst() ? quota : quota.replaceAll(" burst.*", ""))
				.toArray(String[]::new))
			.map((quotas) -> Limit.of("per-user", List.of(Dimension.USER), quotas))
			.toList();
		LiveWindows live = new LiveWindows();
		live.set(limits.stream().flatMap((limit) -> limit.quotas().stream()).map(LiveWindow::of).toList());
		return limits.stream().map((limit) -> new CounterSpec(algorithm, limit, Enforcement.STRICT, live)).toList();
	}

	private static ByteBuffer buffer(byte[] value) {
		return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	/**
	 * What a string of GCRA says.
	 *
	 * @param latestMillis the latest time of its windows
	 * @param longestStep milliseconds by which its key may outlive that
	 * @param expiry of its key, modulo 65,536
	 */
	private record State(long latestMillis, long longestStep, long expiry) {

		static State of(byte[] value) {
			ByteBuffer buffer = buffer(value);
			boolean rests = value.length % 2 == 1;
			int windows = value.length / (rests ? 14 : 10);
			long latest = 0;
			long longest = 0;
			for (int i = 0; i < windows; i++) {
				latest = Math.max(latest, (long) buffer.getDouble(8 * i));
				int tag = buffer.getShort((rests ? 12 : 8) * windows + 2 * i);
				longest = Math.max(longest, (tag < 10) ? 1_000 * tag : 10_000);
			}
			return new State(latest / 1_000, longest,
					Short.toUnsignedLong(buffer.getShort((rests ? 14 : 10) * windows)));
		}

		long slack() {
			return Math.floorMod(this.expiry - this.latestMillis, 65_536);
		}

	}

}
