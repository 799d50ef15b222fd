package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Permits;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A check costs Redis the same whether its policy settles costs, has penalties or records
 * retries: the same script, the same keys and the same arguments.
 */
class FreeWhenNotUsedTests {

	private static final byte[] NOW = {};

	@ParameterizedTest
	@EnumSource
	void scriptOfAnAlgorithmKnowsNeitherMarkersNorPenaltiesNorRecords(Algorithm algorithm) {
		String plain = new String(LuaScript.of(algorithm).text(), StandardCharsets.UTF_8);
		assertThat(plain).doesNotContainIgnoringCase("marker", "penalt", "offence", "PUBLISH", "replay", "holders");
		String settling = new String(LuaScript.settling(algorithm).text(), StandardCharsets.UTF_8);
		assertThat(settling).endsWith(plain).isNotEqualTo(plain);
		assertThat(LuaScript.settling(algorithm).sha()).isNotEqualTo(LuaScript.of(algorithm).sha());
	}

	@ParameterizedTest
	@EnumSource
	void checkOfASettlingPolicySendsWhatAnyOtherSends(Algorithm algorithm) {
		ScriptCall plain = call(algorithm, false);
		ScriptCall settling = call(algorithm, true);
		assertThat(settling.script()).isSameAs(plain.script()).isSameAs(LuaScript.of(algorithm));
		assertThat(settling.keys()).isDeepEqualTo(plain.keys());
		assertThat(settling.arguments(NOW)).isDeepEqualTo(plain.arguments(NOW));
	}

	@ParameterizedTest
	@EnumSource
	void requestWithoutAnIdSendsWhatAnyOtherSends(Algorithm algorithm) {
		ScriptCall plain = call(algorithm, false);
		ScriptCall without = call(algorithm, null);
		assertThat(without.script()).isSameAs(plain.script()).isSameAs(LuaScript.of(algorithm));
		assertThat(without.keys()).isDeepEqualTo(plain.keys());
		assertThat(without.arguments(NOW)).isDeepEqualTo(plain.arguments(NOW));
		ScriptCall with = call(algorithm, new Attempt("id", 600_000_000, 3));
		assertThat(with.script()).isSameAs(LuaScript.attempt(algorithm)).isNotSameAs(plain.script());
		assertThat(with.keys().length).isEqualTo(plain.keys().length + 1);
		assertThat(with.arguments(NOW).length).isEqualTo(plain.arguments(NOW).length + 1);
	}

	private static ScriptCall call(Algorithm algorithm, boolean settles) {
		return new ScriptCall(
				List.of(new ScriptCall.Entry(List.of(counter(algorithm, settles)), Permits.exactly(1), 0)));
	}

	/** The call of a request, as a lane makes it. */
	private static ScriptCall call(Algorithm algorithm, @Nullable Attempt attempt) {
		return new Batch(new PendingAcquire(List.of(counter(algorithm, false)), Permits.exactly(1), 0, attempt,
				Counters.DEFAULT_TIMEOUT), 0)
			.call();
	}

	private static Counter counter(Algorithm algorithm, boolean settles) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), "100/s", "5000/h");
		CounterSpec spec = new CounterSpec(algorithm, limit, Enforcement.STRICT, new LiveWindows(), settles);
		return new Counter(spec, new CounterKeys("rl"), "orders", List.of("ann"));
	}

}
