package dev.ratelimit.benchmarks.peers;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class PeersCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunPrintsTheResultAndWritesIt() throws Exception {
		Path file = this.directory.resolve("peers.json");
		StringWriter out = new StringWriter();

		new CommandLine(new PeersCommand()).setOut(new PrintWriter(out))
			.execute("--quick", "--only", "raw-evalsha", "--rounds", "1", "--warm-up", "PT0.2S", "--measure", "PT0.3S",
					"--redis", "bundled", "--json", file.toString());

		assertThat(out.toString()).contains("| raw-evalsha       | 100,000 existing, 256 in flight ");
		JsonNode json = new ObjectMapper().readTree(file.toFile());
		assertThat(json.at("/results")).hasSize(3);
		assertThat(json.at("/results/0/throughput").asDouble()).isPositive();
		assertThat(json.at("/results/0/allowedShare").asDouble()).isEqualTo(1);
		assertThat(json.at("/ratios").has("strict-vs-raw-evalsha-256")).isTrue();
		assertThat(json.at("/ratios/strict-vs-raw-evalsha-256").isNull()).isTrue();
	}

}
