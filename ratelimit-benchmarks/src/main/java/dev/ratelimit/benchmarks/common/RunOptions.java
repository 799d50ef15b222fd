package dev.ratelimit.benchmarks.common;

import java.io.File;
import java.io.IOException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options that all commands have.
 */
public final class RunOptions {

	private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

	@Option(names = "--quick", description = "A shorter run.")
	private boolean quick;

	@Option(names = "--json", paramLabel = "FILE", description = "Also writes the results to a file.")
	private @Nullable File json;

	@Option(names = "--redis", defaultValue = MeasuredRedis.AUTO, paramLabel = "auto|bundled|URI",
			description = "The Redis to measure on: redis-server on the PATH, else the bundled one (auto); "
					+ "the bundled one; or an empty standalone one at a URI, which is flushed (default: ${DEFAULT-VALUE}).")
	private String redis = MeasuredRedis.AUTO;

	@Spec(Spec.Target.MIXEE)
	@SuppressWarnings("NullAway.Init")
	private CommandSpec command;

	public boolean quick() {
		return this.quick;
	}

	/** The choice of Redis, for another command. */
	public String redis() {
		return this.redis;
	}

	/** Starts or finds the Redis to measure on. It is empty. */
	public MeasuredRedis openRedis() {
		return MeasuredRedis.open(this.redis);
	}

	/** Writes the results if a file was named. */
	public void write(Object results) throws IOException {
		if (this.json != null) {
			write(results, this.json);
		}
	}

	/**
	 * Writes the results, and what a report needs to know about them: the command,
	 * whether it was a quick run, and the product.
	 */
	public void write(Object results, File file) throws IOException {
		JsonNode tree = JSON.valueToTree(results);
		ObjectNode marked = JSON.createObjectNode()
			.put("command", this.command.name())
			.put("quick", this.quick)
			.put("product", Product.hash());
		if (tree instanceof ObjectNode object) {
			marked.setAll(object);
		}
		else {
			marked.set("results", tree);
		}
		JSON.writeValue(file, marked);
	}

}
