package dev.ratelimit.benchmarks.gateway;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class GatewayCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void aShortRunMeasuresEveryRouteOfOneGateway() throws Exception {
		Path file = this.directory.resolve("gateway.json");
		StringWriter out = new StringWriter();

		new CommandLine(new GatewayCommand()).setOut(new PrintWriter(out))
			.execute("--turns", "1", "--warm-up-turns", "1", "--measure", "PT1S", "--connections", "4", "--redis",
					"bundled", "--json", file.toString());

		assertThat(out.toString()).contains("| strict    | one limit, strict ");
		JsonNode json = new ObjectMapper().readTree(file.toFile());
		for (String route : new String[] { "strict", "composite", "leased", "standin", "builtin" }) {
			assertThat(json.at("/cost").has(route)).as(route).isTrue();
			assertThat(json.at("/kept/" + route).asDouble()).as(route).isPositive();
			assertThat(json.at("/routes/" + route + "/gatewayMicros").asDouble()).as(route).isPositive();
		}
	}

}
