package dev.ratelimit.benchmarks.capacity;

import java.io.IOException;
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

class PlanCommandTests {

	@TempDir
	private Path directory;

	@Test
	void pageOnCapacityHasTheOutputOfTheCommand() throws IOException {
		String page = Files.readString(Path.of("../docs/capacity.md"));

		assertThat(page).as("docs/capacity.md must contain the output of `plan`").contains(run());
	}

	@Test
	void everyNumberSaysWhereItIsFromUnlessItIsAssumed() {
		assertThat(Numbers.committed().all()).allSatisfy((name, number) -> {
			assertThat(number.kind()).isIn("measured", "setting", "assumption");
			assertThat(number.source() == null).isEqualTo(number.kind().equals("assumption"));
		});
	}

	@Test
	void resultsOfThisMachineReplaceTheCommittedOnes() throws IOException {
		Files.writeString(this.directory.resolve("peers.json"), """
				{"results": [
				  {"contender": "ours-strict", "workload": "hot-256", "redisCpuMicros": 1},
				  {"contender": "ours-strict", "workload": "existing-256", "redisCpuMicros": 4},
				  {"contender": "ours-strict-3x2", "workload": "existing-256", "clientCpuMicros": 7}]}
				""");
		Files.writeString(this.directory.resolve("memory.json"), """
				{"results": [{"name": "GCRA, 3 quotas", "bytes": 150.5}]}
				""");

		Numbers numbers = Numbers.committed().measuredIn(this.directory);

		assertThat(numbers.value("strict-checks-per-second")).isEqualTo(250_000);
		assertThat(numbers.value("strict-check-micros")).isEqualTo(7);
		assertThat(numbers.value("bytes-per-counter")).isEqualTo(150.5);
		assertThat(run("--lab", this.directory.toString())).startsWith("Computed from the results of this machine");
	}

	@Test
	void anotherNumberChangesThePlan() throws IOException {
		Path json = this.directory.resolve("plan.json");

		run("--rps", "200000", "--number", "instance-requests=20000", "--json", json.toString());

		JsonNode plan = new ObjectMapper().readTree(json.toFile());
		assertThat(plan.at("/plan/instances").asInt()).isEqualTo(10);
		assertThat(plan.at("/numbers/instance-requests/source").asText()).isEqualTo("--number");
		assertThat(plan.at("/rows")).hasSize(8);
		assertThat(new CommandLine(new PlanCommand()).execute("--number", "price=1")).isEqualTo(2);
	}

	private static String run(String... arguments) {
		StringWriter out = new StringWriter();
		assertThat(new CommandLine(new PlanCommand()).setOut(new PrintWriter(out)).execute(arguments)).isZero();
		return out.toString();
	}

}
