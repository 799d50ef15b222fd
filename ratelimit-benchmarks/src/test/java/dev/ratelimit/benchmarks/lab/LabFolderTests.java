package dev.ratelimit.benchmarks.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import dev.ratelimit.benchmarks.common.Product;
import dev.ratelimit.benchmarks.common.RunOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LabFolderTests {

	private static final LabResult RESULT = new LabResult("Title", "machine", List.of(table()),
			List.of(Verdict.bound("right", true, "1")), "nothing", List.of("note"));

	@TempDir
	private Path directory;

	private int runs;

	@Test
	void keptPartIsTakenAgainIfAsked() throws Exception {
		LabFolder folder = folder();

		assertThat(folder.run("part", true, this::part)).isEqualTo(RESULT);
		assertThat(folder.run("part", true, this::part)).isEqualTo(RESULT);
		assertThat(this.runs).isEqualTo(1);
		folder.run("part", false, this::part);
		assertThat(this.runs).isEqualTo(2);
	}

	@Test
	void partOfAnotherProductRunsAgain() throws Exception {
		folder().run("part", true, this::part);
		Path file = this.directory.resolve("part.json");
		Files.writeString(file, Files.readString(file).replace(Product.hash(), "000000000000"));

		folder().run("part", true, this::part);

		assertThat(this.runs).isEqualTo(2);
	}

	@Test
	void partOfAQuickRunIsNoneOfAThoroughOne() throws Exception {
		folder("--quick").run("part", true, this::part);
		folder().run("part", true, this::part);

		assertThat(this.runs).isEqualTo(2);
		assertThat(LabFile.read(this.directory.resolve("part.json")).quick()).isFalse();
	}

	@Test
	void fileOfAnotherProgramIsAnError() throws IOException {
		Path file = Files.writeString(this.directory.resolve("other.json"), "{}");

		assertThatIllegalArgumentException().isThrownBy(() -> LabFile.read(file))
			.withMessageContaining("which command");
	}

	@Test
	void plotHasALineForEachSeries() {
		String svg = new Plot("a < b", "seconds", "µs")
			.line("one", List.of(new double[] { 0, 0 }, new double[] { 1, 5 }))
			.line("none", List.of())
			.svg();

		assertThat(svg).contains("a &lt; b", "points=\"60.0,260.0 700.0,60.0\"").containsOnlyOnce("</svg>");
	}

	private LabResult part() {
		this.runs++;
		return RESULT;
	}

	private static Table table() {
		Table table = new Table("Table:", List.of("a", "b"));
		table.add(1, "x");
		return table;
	}

	private LabFolder folder(String... arguments) throws IOException {
		Options command = new Options();
		new CommandLine(command).parseArgs(arguments);
		return new LabFolder(this.directory, command.options);
	}

	@Command(name = "test")
	private static final class Options {

		@Mixin
		private final RunOptions options = new RunOptions();

	}

}
