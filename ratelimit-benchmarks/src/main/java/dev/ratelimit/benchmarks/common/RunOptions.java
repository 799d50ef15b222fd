package dev.ratelimit.benchmarks.common;

import java.io.File;
import java.io.IOException;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options that all commands have.
 */
public final class RunOptions {

	@Option(names = "--quick", description = "A shorter run.")
	private boolean quick;

	@Option(names = "--json", paramLabel = "FILE", description = "Also writes the results to a file.")
	private @Nullable File json;

	@Option(names = "--redis", defaultValue = MeasuredRedis.AUTO, paramLabel = "auto|bundled|URI",
			description = "The Redis to measure on: redis-server on the PATH, else the bundled one (auto); "
					+ "the bundled one; or an empty standalone one at a URI, which is flushed (default: ${DEFAULT-VALUE}).")
	private String redis = MeasuredRedis.AUTO;

	public boolean quick() {
		return this.quick;
	}

	/** Starts or finds the Redis to measure on. It is empty. */
	public MeasuredRedis openRedis() {
		return MeasuredRedis.open(this.redis);
	}

	/** Writes the results if a file was named. */
	public void write(Object results) throws IOException {
		if (this.json != null) {
			new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(this.json, results);
		}
	}

}
