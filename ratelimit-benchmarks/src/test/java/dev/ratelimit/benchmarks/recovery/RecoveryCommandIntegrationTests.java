package dev.ratelimit.benchmarks.recovery;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class RecoveryCommandIntegrationTests {

	@TempDir
	private Path directory;

	/** A lease lasts for one of the seconds in which Redis stands still. */
	@Test
	void answersOfTheFailureModeAreSeenThroughTheGatewayWhileRedisStandsStill() throws Exception {
		Path file = this.directory.resolve("recovery.json");
		StringWriter out = new StringWriter();

		int exit = new CommandLine(new RecoveryCommand()).setOut(new PrintWriter(out))
			.execute("--gateway", "--rate", "200", "--keys", "5", "--observe", "PT3S", "--stopped", "PT3S",
					"--deadline", "PT0.5S", "--redis", "bundled", "--json", file.toString());

		assertThat(out.toString()).contains("s after the return of Redis (must: 5)");
		JsonNode json = new ObjectMapper().readTree(file.toFile());
		assertThat(json.at("/through").asText()).startsWith("a gateway, ");
		assertThat(undegraded(json, "stopped")).hasSize(3).anyMatch((share) -> share < 0.5);
		assertThat(undegraded(json, "started")).hasSize(3).anyMatch((share) -> share > 0);
		assertThat(undegraded(json, "returned")).hasSize(3);
		assertThat(json.at("/seconds/started/2/processor").asDouble()).isPositive();
		// Whether the bound is kept in so short a time depends on the machine.
		boolean kept = json.at("/startSeconds").asInt() < 3 && json.at("/returnSeconds").asInt() < 3;
		assertThat(exit).isEqualTo(kept ? 0 : 1);
	}

	private static List<Double> undegraded(JsonNode json, String part) {
		return StreamSupport.stream(json.at("/seconds/" + part).spliterator(), false)
			.map((second) -> second.at("/undegraded").asDouble())
			.toList();
	}

}
