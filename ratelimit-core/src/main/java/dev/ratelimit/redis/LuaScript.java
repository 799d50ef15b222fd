package dev.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.Base16;

import dev.ratelimit.Algorithm;

/**
 * A script: read and digested once, kept in memory.
 */
final class LuaScript {

	private static final String FOLDER = "/META-INF/ratelimit/";

	private static final LuaScript[] ALGORITHMS = Arrays.stream(Algorithm.values())
		.map(LuaScript::read)
		.toArray(LuaScript[]::new);

	/** Of {@link RedisPulse}. */
	static final LuaScript PULSE = new LuaScript(read("pulse"));

	/** Of {@link RedisHotKeys}. */
	static final LuaScript HOT = new LuaScript(read("hot"));

	/** Of {@link RedisHotKeys}. */
	static final LuaScript HOT_MARK = new LuaScript(read("hotmark"));

	/** Of {@link RedisPolicyStore}. */
	static final LuaScript POLICIES_WRITE = new LuaScript(read("policies-write"));

	/** Of {@link RedisPolicyStore}. */
	static final LuaScript POLICIES_CHANGES = new LuaScript(read("policies-changes"));

	/** Of {@link RedisPolicyStore}. */
	static final LuaScript POLICIES_AUDIT = new LuaScript(read("policies-audit"));

	/** Of {@link RedisPolicyStore}. */
	static final LuaScript POLICIES_LEAD = new LuaScript(read("policies-lead"));

	/** Of {@link RedisFleetSums}. */
	static final LuaScript FLEET_SUMS = new LuaScript(read("fleet-sums"));

	/** Of {@link RedisRefusals}. */
	static final LuaScript REFUSALS = new LuaScript(read("refusals"));

	private final byte[] text;

	private final String sha;

	private LuaScript(String text) {
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.sha = Base16.digest(this.text);
	}

	static LuaScript of(Algorithm algorithm) {
		return ALGORITHMS[algorithm.ordinal()];
	}

	byte[] text() {
		return this.text;
	}

	String sha() {
		return this.sha;
	}

	/**
	 * Calls the script. A node that does not know it gets its text, which it then knows.
	 */
	CompletionStage<List<Object>> call(RedisClusterAsyncCommands<byte[], byte[]> commands, byte[][] keys,
			byte[][] arguments) {
		CompletionStage<List<Object>> reply = commands.<List<Object>>evalsha(this.sha, ScriptOutputType.MULTI, keys,
				arguments);
		return reply.exceptionallyCompose((failure) -> Failures.unknownScript(failure)
				? commands.eval(this.text, ScriptOutputType.MULTI, keys, arguments)
				: CompletableFuture.failedStage(failure));
	}

	private static LuaScript read(Algorithm algorithm) {
		return new LuaScript(switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> read("pace") + read("gcra");
			case SLIDING_WINDOW_LOG -> read(algorithm.text()) + read("frame");
			case FIXED_WINDOW, SLIDING_WINDOW_COUNTER -> read("strings") + read(algorithm.text()) + read("frame");
		});
	}

	private static String read(String name) {
		try (InputStream resource = LuaScript.class.getResourceAsStream(FOLDER + name + ".lua")) {
			if (resource == null) {
				throw new IllegalStateException("script " + FOLDER + name + ".lua is not on the class path");
			}
			return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot read script " + FOLDER + name + ".lua", ex);
		}
	}

}
