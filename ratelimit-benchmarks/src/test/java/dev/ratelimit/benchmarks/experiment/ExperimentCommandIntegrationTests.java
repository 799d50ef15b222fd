package dev.ratelimit.benchmarks.experiment;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ExperimentCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunComparesInstancesInProcessesOfTheirOwnAndJudgesThem() throws Exception {
		StringWriter out = new StringWriter();

		int exit = new CommandLine(new ExperimentCommand()).setOut(new PrintWriter(out))
			.execute("1", "--quick", "--redis", "bundled", "--out", this.directory.toString());

		assertThat(out.toString()).contains("| strict | ", "| leased | ");
		JsonNode result = new ObjectMapper().readTree(this.directory.resolve("experiment-1.json").toFile());
		assertThat(result.at("/command").asText()).isEqualTo("experiment");
		assertThat(result.at("/verdicts").findValuesAsText("name")).contains("strict p99 below 1 ms");
		assertThat(Files.readString(this.directory.resolve("experiment-1.svg"))).contains("leased");
		// Whether the bounds are kept in so short a time depends on the machine.
		assertThat(exit).isEqualTo(out.toString().contains("**broken**") ? 1 : 0);
	}

	@Test
	void unknownNumberNamesTheKnownOnes() {
		StringWriter err = new StringWriter();

		int exit = new CommandLine(new ExperimentCommand()).setErr(new PrintWriter(err)).execute("9");

		assertThat(exit).isEqualTo(2);
		assertThat(err.toString()).contains("there is no experiment '9'");
	}

}
