package dev.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.Base16;

import dev.ratelimit.Algorithm;

/**
 * A script: read and digested once, kept in memory.
 */
public final class LuaScript {

	private static final String FOLDER = "/META-INF/ratelimit/";

	private static final LuaScript[] ALGORITHMS = each(LuaScript::read);

	private static final LuaScript[] SETTLING = each((algorithm) -> read("settle") + read(algorithm));

	private static final LuaScript[] ATTEMPTS = each(
			(algorithm) -> read("attempt").replace("-- <algorithm>\n", read(algorithm)));

	private static final LuaScript[] RELEASING = each((algorithm) -> read("release") + read(algorithm));

	private final byte[] text;

	private final String sha;

	private LuaScript(String text) {
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.sha = Base16.digest(this.text);
	}

	private static LuaScript[] each(Function<Algorithm, String> text) {
		return Arrays.stream(Algorithm.values()).map(text).map(LuaScript::new).toArray(LuaScript[]::new);
	}

	/**
	 * Reads a script of {@code META-INF/ratelimit}, to be kept.
	 * @param name of the file, without its ending
	 */
	public static LuaScript named(String name) {
		return new LuaScript(read(name));
	}

	static LuaScript of(Algorithm algorithm) {
		return ALGORITHMS[algorithm.ordinal()];
	}

	/**
	 * The script of an algorithm that acts at most once.
	 */
	static LuaScript settling(Algorithm algorithm) {
		return SETTLING[algorithm.ordinal()];
	}

	/**
	 * The script of an algorithm that decides a request which may be sent again.
	 */
	static LuaScript attempt(Algorithm algorithm) {
		return ATTEMPTS[algorithm.ordinal()];
	}

	/**
	 * The script of an algorithm that acts for the last attempt of a request.
	 */
	static LuaScript releasing(Algorithm algorithm) {
		return RELEASING[algorithm.ordinal()];
	}

	/**
	 * All scripts that decide, correct or give back.
	 */
	static Stream<LuaScript> ofCounters() {
		return Stream.of(ALGORITHMS, SETTLING, ATTEMPTS, RELEASING).flatMap(Arrays::stream);
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
	public CompletionStage<List<Object>> call(RedisClusterAsyncCommands<byte[], byte[]> commands, byte[][] keys,
			byte[][] arguments) {
		CompletionStage<List<Object>> reply = commands.<List<Object>>evalsha(this.sha, ScriptOutputType.MULTI, keys,
				arguments);
		return reply.exceptionallyCompose((failure) -> RedisErrors.unknownScript(failure)
				? commands.eval(this.text, ScriptOutputType.MULTI, keys, arguments)
				: CompletableFuture.failedStage(failure));
	}

	private static String read(Algorithm algorithm) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> read("pace") + read("gcra");
			case SLIDING_WINDOW_LOG -> read(algorithm.text()) + read("frame");
			case FIXED_WINDOW, SLIDING_WINDOW_COUNTER -> read("strings") + read(algorithm.text()) + read("frame");
		};
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
