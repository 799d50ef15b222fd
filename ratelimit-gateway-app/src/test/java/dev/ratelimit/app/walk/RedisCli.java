package dev.ratelimit.app.walk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.testing.RedisServer;

/**
 * As much of {@code redis-cli} as the docs use: a script from a file of this repository.
 */
final class RedisCli {

	private static final Path REPOSITORY = Path.of("..");

	private final RedisServer redis;

	RedisCli(RedisServer redis) {
		this.redis = redis;
	}

	/** What it prints. */
	String run(List<String> arguments) {
		if (!arguments.get(0).equals("--eval")) {
			throw new IllegalArgumentException("redis-cli " + arguments);
		}
		int keys = arguments.indexOf(",") - 2;
		List<String> command = new ArrayList<>(List.of("EVAL", script(arguments.get(1)), String.valueOf(keys)));
		command.addAll(arguments.subList(2, 2 + keys));
		command.addAll(arguments.subList(3 + keys, arguments.size()));
		return this.redis.cli(command.toArray(String[]::new));
	}

	private static String script(String file) {
		try {
			return Files.readString(REPOSITORY.resolve(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
