package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.lab.LabFile;

/**
 * Writes the tables of a page from the results of all commands. It starts nothing.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar report}
 */
@Command(name = "report", description = "Writes the tables of docs/benchmarks.md from the results of all commands.",
		mixinStandardHelpOptions = true)
public final class ReportCommand implements Callable<Integer> {

	/** What a page has no tables of: a load or a computation, but no measurement. */
	private static final Set<String> WITHOUT_TABLES = Set.of("gen", "chaos", "plan", "report");

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--lab", paramLabel = "DIR", defaultValue = "target/lab",
			description = "Folder with the JSON of the commands (default: ${DEFAULT-VALUE}).")
	private Path lab = Path.of("target/lab");

	@Option(names = "--page", paramLabel = "FILE", defaultValue = "docs/benchmarks.md",
			description = "Page that has places for the results (default: ${DEFAULT-VALUE}).")
	private Path page = Path.of("docs/benchmarks.md");

	@Option(names = "--allow-quick", description = "Also takes results of quick runs.")
	private boolean allowQuick;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		try {
			List<LabFile> files = files();
			requireOneProduct(files);
			Map<String, String> sections = sections(files);
			Files.writeString(this.page, Page.with(Files.readString(this.page), sections));
			this.spec.commandLine().getOut().println(this.page + " has the results of " + sections.keySet());
			this.options.write(Map.of("page", this.page.toString(), "commands", sections.keySet()));
			return 0;
		}
		catch (IllegalArgumentException ex) {
			this.spec.commandLine().getErr().println(ex.getMessage());
			return 1;
		}
		finally {
			this.spec.commandLine().getOut().flush();
			this.spec.commandLine().getErr().flush();
		}
	}

	private List<LabFile> files() throws IOException {
		List<LabFile> files = new ArrayList<>();
		if (Files.isDirectory(this.lab)) {
			try (Stream<Path> all = Files.list(this.lab)) {
				for (Path file : all.filter((each) -> each.toString().endsWith(".json")).sorted().toList()) {
					LabFile read = LabFile.read(file);
					if (!WITHOUT_TABLES.contains(read.command())) {
						files.add(read);
					}
				}
			}
		}
		if (files.isEmpty()) {
			throw new IllegalArgumentException("There are no results in " + this.lab + ". Run the commands with --json "
					+ this.lab + "/<command>.json first.");
		}
		return files;
	}

	private void requireOneProduct(List<LabFile> files) {
		Map<String, List<String>> products = new TreeMap<>();
		for (LabFile file : files) {
			if (file.quick() && !this.allowQuick) {
				throw new IllegalArgumentException("The result of '" + file.command()
						+ "' is of a quick run. Run it without --quick, or add --allow-quick.");
			}
			products.computeIfAbsent(file.product(), (product) -> new ArrayList<>()).add(file.command());
		}
		if (products.size() > 1) {
			throw new IllegalArgumentException(
					"The results are of different products: " + products + ". Run the older ones again.");
		}
	}

	/**
	 * Results of a command with several files, such as the experiments, are one section.
	 */
	private static Map<String, String> sections(List<LabFile> files) throws IOException {
		Map<String, String> sections = new TreeMap<>();
		for (LabFile file : files) {
			sections.merge(file.command(), Section.of(file), (one, other) -> one + "\n\n" + other);
		}
		return sections;
	}

}
