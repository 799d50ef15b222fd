package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ReportCommandTests {

	private static final String MEMORY = """
			{"command": "memory", "quick": false, "product": "aaaaaaaaaaaa", "redis": "Redis 7.0.15",
			 "results": [{"name": "GCRA, 1 quota", "bytes": 128.8, "bound": 136}, {"name": "log", "bytes": 449.0, "bound": null}]}
			""";

	private static final String EXPERIMENT = """
			{"command": "experiment", "quick": false, "product": "aaaaaaaaaaaa", "title": "Experiment %1$d", "machine": "here",
			 "tables": [{"title": "T:", "columns": ["a"], "rows": [["%1$d0"]]}],
			 "verdicts": [{"name": "p99", "correctness": false, "measured": "2 ms", "result": "NOT_RESOLVABLE"}],
			 "bottleneck": "the rate", "notes": []}
			""";

	@TempDir
	private Path lab;

	private Path page;

	private String errors = "";

	@BeforeEach
	void makePage() throws IOException {
		this.page = Files.writeString(this.lab.resolve("page.md"), """
				# Page
				<!-- results of memory -->
				old
				<!-- end of results -->
				between
				<!-- results of experiment -->
				No results yet.
				<!-- end of results -->
				<!-- results of peers -->
				stays
				<!-- end of results -->
				""");
	}

	@Test
	void tablesAreInTheirPlacesAndTheOthersStay() throws IOException {
		write("memory.json", MEMORY);
		write("experiment-1.json", String.format(EXPERIMENT, 1));
		write("experiment-5.json", String.format(EXPERIMENT, 5));

		assertThat(report()).isZero();

		String written = Files.readString(this.page);
		assertThat(written)
			.contains("`memory`, product `aaaaaaaaaaaa`; Redis 7.0.15.", "| GCRA, 1 quota | 128.8 | 136 |",
					"| log | 449 |  |", "between", "stays", "| p99 | 2 ms | not resolvable on this machine |")
			.doesNotContain("old", "No results yet");
		assertThat(written.indexOf("Experiment 1")).isBetween(0, written.indexOf("Experiment 5"));
		assertThat(report()).isZero();
		assertThat(Files.readString(this.page)).isEqualTo(written);
	}

	@Test
	void resultsOfDifferentProductsAreRefused() throws IOException {
		write("memory.json", MEMORY);
		write("experiment-1.json", String.format(EXPERIMENT, 1).replace("aaaaaaaaaaaa", "bbbbbbbbbbbb"));

		assertThat(report()).isEqualTo(1);

		assertThat(this.errors).contains("different products", "aaaaaaaaaaaa=[memory]", "bbbbbbbbbbbb=[experiment]");
		assertThat(Files.readString(this.page)).contains("old");
	}

	@Test
	void quickRunsAreOnlyTakenIfAsked() throws IOException {
		write("memory.json", MEMORY.replace("false", "true"));

		assertThat(report()).isEqualTo(1);
		assertThat(this.errors).contains("quick run");
		assertThat(report("--allow-quick")).isZero();
		assertThat(Files.readString(this.page)).contains("`memory --quick`");
	}

	@Test
	void resultWithoutAPlaceAndFolderWithoutResultsAreErrors() throws IOException {
		assertThat(report()).isEqualTo(1);
		assertThat(this.errors).contains("There are no results");

		write("jmh.json", MEMORY.replace("\"memory\"", "\"jmh\""));
		assertThat(report()).isEqualTo(1);
		assertThat(this.errors).contains("no '<!-- results of jmh -->'");
	}

	@Test
	void pageOfTheDocumentationHasAPlaceForEveryCommand() throws IOException {
		String page = Files.readString(Path.of("../docs/benchmarks.md"));

		for (String command : new String[] { "peers", "gateway", "jmh", "memory", "grpc", "recovery", "experiment",
				"million" }) {
			assertThat(page).contains("<!-- results of " + command + " -->\n");
		}
	}

	private void write(String name, String content) throws IOException {
		Files.writeString(this.lab.resolve(name), content);
	}

	private int report(String... more) {
		StringWriter err = new StringWriter();
		CommandLine command = new CommandLine(new ReportCommand()).setOut(new PrintWriter(new StringWriter()))
			.setErr(new PrintWriter(err));
		String[] all = new String[4 + more.length];
		System.arraycopy(new String[] { "--lab", this.lab.toString(), "--page", this.page.toString() }, 0, all, 0, 4);
		System.arraycopy(more, 0, all, 4, more.length);
		int exit = command.execute(all);
		this.errors = err.toString();
		return exit;
	}

}
