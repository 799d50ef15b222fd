package dev.ratelimit.app.walk;

import java.util.Set;
import java.util.TreeSet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Makes two outputs comparable that were made at different times: the time of day is left
 * out, and so are the numbers in a sentence.
 */
final class Printed {

	private static final ObjectMapper JSON = new ObjectMapper();

	private static final Set<String> TIMES = Set.of("time", "since", "nextAt", "until", "before", "reset", "resetAfter",
			"revision", "number");

	private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

	private Printed() {
	}

	/** A text, whatever its spaces are. */
	static String text(String output) {
		return output.strip().replaceAll(" +", " ").replaceAll("(?m)^ ", "");
	}

	/** A document, whatever the order of its fields is. */
	static JsonNode json(String output) {
		try {
			return comparable(JSON.readTree(output));
		}
		catch (JsonProcessingException ex) {
			throw new IllegalArgumentException(output, ex);
		}
	}

	private static JsonNode comparable(JsonNode node) {
		if (node instanceof ObjectNode object) {
			for (String name : new TreeSet<>(object.properties().stream().map((field) -> field.getKey()).toList())) {
				JsonNode value = object.get(name);
				if (TIMES.contains(name) && (value.isNumber() || value.asText().matches("\\d{4}-.*Z"))) {
					object.put(name, "…");
				}
				else if (name.equals("id")) {
					object.put(name, value.asText().replaceAll(UUID, "…"));
				}
				else if (name.equals("reason")) {
					object.put(name,
							value.asText()
								.replaceAll("by instance \\w+", "by instance …")
								.replaceAll("\\d+(\\.\\d)?", "…"));
				}
			}
		}
		node.forEach(Printed::comparable);
		return node;
	}

}
