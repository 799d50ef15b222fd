package dev.ratelimit.benchmarks.capacity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.StreamSupport;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/**
 * What a plan is computed from, each with where it comes from: measured, a setting of the
 * product, or an assumption.
 *
 * @param all by name
 */
record Numbers(Map<String, Figure> all) {

	private static final ObjectMapper JSON = new ObjectMapper();

	/** The numbers in the documentation. */
	static Numbers committed() {
		try (InputStream in = Objects.requireNonNull(Numbers.class.getResourceAsStream("numbers.json"))) {
			return new Numbers(JSON.readValue(in, new TypeReference<LinkedHashMap<String, Figure>>() {
			}));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	double value(String name) {
		return Objects.requireNonNull(this.all.get(name), name).value();
	}

	/** The same with another value. */
	Numbers with(String name, double value, String kind, String source) {
		Map<String, Figure> changed = new LinkedHashMap<>(this.all);
		Figure old = Objects.requireNonNull(this.all.get(name), () -> "there is no number '" + name + "'");
		changed.put(name, new Figure(value, kind, old.text(), source));
		return new Numbers(changed);
	}

	/**
	 * The same with what was measured on this machine, by commands whose JSON is in a
	 * folder.
	 */
	Numbers measuredIn(Path lab) throws IOException {
		Numbers result = this;
		JsonNode peers = read(lab.resolve("peers.json"));
		Optional<JsonNode> strict = entry(peers, "contender", "ours-strict", "existing-256");
		if (strict.isPresent()) {
			String source = lab.resolve("peers.json").toString();
			// One Redis works at most one second per second.
			result = result.with("strict-checks-per-second", 1e6 / strict.get().path("redisCpuMicros").asDouble(),
					"measured", source);
		}
		Optional<JsonNode> composite = entry(peers, "contender", "ours-strict-3x2", "existing-256");
		if (composite.isPresent()) {
			result = result.with("strict-check-micros", composite.get().path("clientCpuMicros").asDouble(), "measured",
					lab.resolve("peers.json").toString());
		}
		Optional<JsonNode> memory = entry(read(lab.resolve("memory.json")), "name", "GCRA, 3 quotas", null);
		if (memory.isPresent()) {
			result = result.with("bytes-per-counter", memory.get().path("bytes").asDouble(), "measured",
					lab.resolve("memory.json").toString());
		}
		return result;
	}

	private static @Nullable JsonNode read(Path file) throws IOException {
		return Files.exists(file) ? JSON.readTree(file.toFile()) : null;
	}

	private static Optional<JsonNode> entry(@Nullable JsonNode report, String field, String value,
			@Nullable String workload) {
		if (report == null) {
			return Optional.empty();
		}
		return StreamSupport.stream(report.path("results").spliterator(), false)
			.filter((each) -> each.path(field).asText().equals(value))
			.filter((each) -> workload == null || each.path("workload").asText().equals(workload))
			.findFirst();
	}

	/**
	 * One of the numbers.
	 *
	 * @param kind measured, setting or assumption
	 * @param text what it is
	 * @param source where it is from, {@code null} for an assumption
	 */
	record Figure(double value, String kind, String text, @Nullable String source) {
	}

}
