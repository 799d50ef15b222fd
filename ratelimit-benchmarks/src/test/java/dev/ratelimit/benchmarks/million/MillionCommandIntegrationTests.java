package dev.ratelimit.benchmarks.million;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class MillionCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunKeepsItsResultsAndPlotsAndCanBeResumed() throws Exception {
		String first = run();

		assertThat(first).contains("| admitted to a caller at 1.5 times its limit", "Steps of the search:");
		JsonNode leased = new ObjectMapper().readTree(this.directory.resolve("million-leased.json").toFile());
		assertThat(leased.at("/command").asText()).isEqualTo("million");
		assertThat(leased.at("/tables/0/rows").size()).isPositive();
		assertThat(Files.readString(this.directory.resolve("million-leased.svg"))).startsWith("<svg");
		assertThat(this.directory.resolve("million-leased.hlog")).isNotEmptyFile();

		String second = run("--resume");
		assertThat(second).isEqualTo(first);
	}

	private String run(String... more) {
		StringWriter out = new StringWriter();
		CommandLine command = new CommandLine(new MillionCommand()).setOut(new PrintWriter(out));
		String[] arguments = { "--quick", "--only", "zipf,leased", "--keys", "500", "--leased-keys", "100", "--rate",
				"5000", "--deadline", "PT2S", "--hold", "PT3S", "--redis", "bundled", "--out",
				this.directory.toString() };
		String[] all = Arrays.copyOf(arguments, arguments.length + more.length);
		System.arraycopy(more, 0, all, arguments.length, more.length);
		int exit = command.execute(all);
		// Whether the bounds are kept in so short a time depends on the machine.
		assertThat(exit).isEqualTo(out.toString().contains("**broken**") ? 1 : 0);
		return out.toString();
	}

}
