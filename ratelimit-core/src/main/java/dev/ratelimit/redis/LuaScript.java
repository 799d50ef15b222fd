package dev.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.lettuce.core.codec.Base16;

import dev.ratelimit.Algorithm;

/**
 * The script of one algorithm: read and digested once, kept in memory.
 */
final class LuaScript {

	private static final String FOLDER = "/META-INF/ratelimit/";

	private static final LuaScript[] SCRIPTS = Arrays.stream(Algorithm.values())
		.map(LuaScript::new)
		.toArray(LuaScript[]::new);

	private final byte[] text;

	private final String sha;

	private LuaScript(Algorithm algorithm) {
		boolean log = algorithm == Algorithm.SLIDING_WINDOW_LOG;
		String text = (log ? "" : read("strings")) + read(algorithm.text()) + read("frame");
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.sha = Base16.digest(this.text);
	}

	static LuaScript of(Algorithm algorithm) {
		return SCRIPTS[algorithm.ordinal()];
	}

	byte[] text() {
		return this.text;
	}

	String sha() {
		return this.sha;
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
