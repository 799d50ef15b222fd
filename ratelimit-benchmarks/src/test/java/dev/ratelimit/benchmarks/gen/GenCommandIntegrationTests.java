package dev.ratelimit.benchmarks.gen;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import dev.ratelimit.benchmarks.gateway.Upstream;

import static org.assertj.core.api.Assertions.assertThat;

class GenCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunSendsItsScheduleAndKeepsTheLatencies() throws Exception {
		Path json = this.directory.resolve("gen.json");
		Path hdr = this.directory.resolve("gen.hlog");

		int exit;
		try (Upstream server = Upstream.start()) {
			exit = run("--quick", "--rate", "200", "--keys", "1000", "--hot", "1", "--limit", "100", "--url",
					"http://127.0.0.1:" + server.port() + "/generated/{cost}", "--json", json.toString(), "--hdr",
					hdr.toString());
		}

		assertThat(exit).isZero();
		JsonNode report = new ObjectMapper().readTree(json.toFile());
		assertThat(report.at("/requests").asInt()).isEqualTo(400);
		// The same in every run and on every machine.
		assertThat(report.at("/digest").asText()).isEqualTo("18ddbed1");
		assertThat(report.at("/allowed").asDouble()).isEqualTo(1);
		assertThat(Files.readString(hdr)).contains("#[Histogram log format version", "latency in nanoseconds");
	}

	@Test
	void unknownAddressIsRefusedBeforeAnythingIsSent() throws Exception {
		assertThat(run("--quick", "--url", "http://192.0.2.1/")).isEqualTo(2);
	}

	@Test
	void logIsSentAgainToTheLastLine() throws Exception {
		Path log = this.directory.resolve("access.log");
		Files.write(log, Collections.nCopies(50, AccessLogTests.LINE));
		Path json = this.directory.resolve("gen.json");

		// Nothing listens there, so every request fails, but all are sent.
		int exit = run("--log", log.toString(), "--speed", "10", "--url", "http://127.0.0.1:1/", "--json",
				json.toString());

		assertThat(exit).isZero();
		JsonNode report = new ObjectMapper().readTree(json.toFile());
		assertThat(report.at("/requests").asInt()).isEqualTo(50);
		assertThat(report.at("/failed").asDouble()).isEqualTo(1);
	}

	private static int run(String... arguments) {
		return new CommandLine(new GenCommand()).setOut(new PrintWriter(new StringWriter())).execute(arguments);
	}

}
