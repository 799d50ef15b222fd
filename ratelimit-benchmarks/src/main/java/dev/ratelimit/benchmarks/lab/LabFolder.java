package dev.ratelimit.benchmarks.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.Product;
import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * Where results, latencies and plots are kept: a part that is there need not run again.
 */
public final class LabFolder {

	private static final ObjectMapper JSON = new ObjectMapper();

	private final Path folder;

	private final RunOptions options;

	public LabFolder(Path folder, RunOptions options) throws IOException {
		this.folder = Files.createDirectories(folder);
		this.options = options;
	}

	/** A file in the folder, such as {@code million-hot.svg}. */
	public Path file(String name) {
		return this.folder.resolve(name);
	}

	/**
	 * Runs a part and keeps its result.
	 * @param resume whether a result that is there is taken instead, if it is of this
	 * product and as quick or thorough as this run
	 */
	public LabResult run(String name, boolean resume, Part part) throws Exception {
		LabResult kept = resume ? kept(name) : null;
		if (kept != null) {
			System.err.println(name + ": taken from " + file(name + ".json"));
			return kept;
		}
		LabResult result = part.run();
		this.options.write(result, file(name + ".json").toFile());
		return result;
	}

	private @Nullable LabResult kept(String name) throws IOException {
		Path file = file(name + ".json");
		if (!Files.exists(file)) {
			return null;
		}
		JsonNode tree = JSON.readTree(file.toFile());
		boolean same = tree.path("product").asText().equals(Product.hash())
				&& tree.path("quick").asBoolean() == this.options.quick();
		return same ? LabFile.result(tree) : null;
	}

	/** Something that takes long. */
	public interface Part {

		LabResult run() throws Exception;

	}

}
