package dev.ratelimit.benchmarks.lab;

import java.io.IOException;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * A file with a result, of any command.
 *
 * @param command that made it
 * @param quick whether by a quick run
 * @param product that was measured
 * @param content everything
 */
public record LabFile(String command, boolean quick, String product, JsonNode content) {

	private static final ObjectMapper JSON = new ObjectMapper()
		.disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

	/**
	 * Reads a file.
	 * @throws IllegalArgumentException if no command of this jar has made it
	 */
	public static LabFile read(Path file) throws IOException {
		JsonNode tree = JSON.readTree(file.toFile());
		if (!tree.hasNonNull("command") || !tree.hasNonNull("product")) {
			throw new IllegalArgumentException(file + " does not say which command and product it is of");
		}
		return new LabFile(tree.path("command").asText(), tree.path("quick").asBoolean(), tree.path("product").asText(),
				tree);
	}

	/** Whether it has the shape of a result of the lab. */
	public boolean isLabResult() {
		return this.content.has("tables") && this.content.has("verdicts");
	}

	public LabResult result() throws IOException {
		return result(this.content);
	}

	static LabResult result(JsonNode tree) throws IOException {
		return JSON.treeToValue(tree, LabResult.class);
	}

}
