package dev.ratelimit.benchmarks.grpc;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class GrpcCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunPrintsTheResultAndWritesIt() throws Exception {
		Path file = this.directory.resolve("grpc.json");
		StringWriter out = new StringWriter();

		new CommandLine(new GrpcCommand()).setOut(new PrintWriter(out))
			.execute("--quick", "--only", "unary-strict,many-leased,lone-unix", "--rounds", "1", "--warm-up", "PT0.2S",
					"--measure", "PT0.3S", "--deadline", "PT5S", "--redis", "bundled", "--json", file.toString());

		assertThat(out.toString()).contains("| `CheckMany`, leased, 4 messages of 200 in flight | ")
			.contains("| many-leased-per-second ");
		JsonNode json = new ObjectMapper().readTree(file.toFile());
		assertThat(json.at("/results").findValuesAsText("id")).startsWith("unary-strict", "many-leased");
		for (JsonNode result : json.at("/results")) {
			assertThat(result.at("/throughput").asDouble()).isPositive();
			assertThat(result.at("/serverCpuMicros").asDouble()).isPositive();
			assertThat(result.at("/allowedShare").asDouble()).isGreaterThan(0.995);
		}
		assertThat(json.at("/goals/many-leased-per-second").asDouble()).isPositive();
	}

}
