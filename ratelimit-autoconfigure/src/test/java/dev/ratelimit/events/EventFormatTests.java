package dev.ratelimit.events;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;

import static org.assertj.core.api.Assertions.assertThat;

class EventFormatTests {

	private static final String INSTANCE = "5f0c3a1e-8f0d-4f4b-9a53-0b5f2f3d6c11";

	private final ObjectMapper json = new ObjectMapper();

	private final EventFormat format = new EventFormat(new CallerNames((dimension, value) -> switch (dimension.name()) {
		case "tenant" -> "Qf3k1s9ZbnA0XwT4yJ8m2g";
		case "user" -> "hV7pZ2cRkE1dM5uLw9sYaQ";
		default -> "0bN4tGx6oIj3vPqF8eCrWA";
	}, 64), "eu-1", INSTANCE);

	@Test
	void exampleOfTheDocsIsWhatIsWritten() throws IOException {
		String docs = Files.readString(Path.of("..", "docs", "events.md"));
		int from = docs.indexOf("```json\n") + "```json\n".length();
		JsonNode example = this.json.readTree(docs.substring(from, docs.indexOf("```", from)));
		Request request = Request.of("orders")
			.with(Dimension.TENANT, "acme")
			.with(Dimension.USER, "ann")
			.with(Dimension.IP, "203.0.113.7")
			.with(Dimension.ROUTE, "orders-route")
			.with(Dimension.REGION, "eu-1")
			.withCost(5)
			.withId("4bf92f3577b34da6a3ce929d0e0e4736");
		UsageEvent event = new UsageEvent(Instant.parse("2026-03-01T12:00:00.123Z").toEpochMilli(), request, 7, 0,
				false, Decision.Outcome.REFUSED, false, false, false);
		assertThat(read(event)).isEqualTo(example);
	}

	@Test
	void onlyAReplaySaysSo() throws IOException {
		assertThat(read(event(Request.of("orders"))).at("/data").has("replay")).isFalse();
		UsageEvent replay = new UsageEvent(0, Request.of("orders"), 0, 1, true, Decision.Outcome.ALLOWED, false, false,
				true);
		assertThat(read(replay).at("/data/replay").asBoolean()).isTrue();
	}

	@Test
	void keyIsWhatStandsInForTheTenant() {
		EventMessage message = this.format.write(event(Request.of("orders").with(Dimension.TENANT, "acme")));
		assertThat(message.key()).asString(StandardCharsets.UTF_8).isEqualTo("Qf3k1s9ZbnA0XwT4yJ8m2g");
	}

	@Test
	void withoutATenantThereIsNoKey() throws IOException {
		UsageEvent event = event(Request.of("orders").with(Dimension.USER, "ann"));
		assertThat(this.format.write(event).key()).isNull();
		assertThat(read(event).has("partitionkey")).isFalse();
	}

	@Test
	void requestWithoutAnIdHasNone() throws IOException {
		assertThat(read(event(Request.of("orders"))).path("data").has("requestId")).isFalse();
	}

	@Test
	void customDimensionsAreReplacedToo() throws IOException {
		UsageEvent event = event(Request.of("orders").with(new Dimension("account"), "4711"));
		assertThat(read(event).at("/data/key/account").asText()).isEqualTo("0bN4tGx6oIj3vPqF8eCrWA");
	}

	@Test
	void eventsHaveIdsOfTheirOwn() throws IOException {
		UsageEvent event = event(Request.of("orders"));
		assertThat(read(event).path("id")).isNotEqualTo(read(event).path("id"));
	}

	@Test
	void ipv6AddressIsNamedAsItIsCounted() throws IOException {
		EventFormat format = new EventFormat(new CallerNames((dimension, value) -> value, 64), "eu-1", INSTANCE);
		Request request = Request.of("orders").with(Dimension.IP, "2001:db8::17");
		JsonNode event = this.json.readTree(format.write(event(request)).value());
		assertThat(event.at("/data/key/ip").asText()).isEqualTo("2001:db8:0:0:0:0:0:0");
	}

	@Test
	void sourceIsAUriWhateverTheRegionIsCalled() throws IOException {
		EventFormat format = new EventFormat(new CallerNames((dimension, value) -> value, 64), "Zürich (west)",
				INSTANCE);
		JsonNode event = this.json.readTree(format.write(event(Request.of("orders"))).value());
		assertThat(event.path("source").asText()).isEqualTo("/ratelimit/Z%C3%BCrich%20(west)/" + INSTANCE);
	}

	private JsonNode read(UsageEvent event) throws IOException {
		return this.json.readTree(this.format.write(event).value());
	}

	private static UsageEvent event(Request request) {
		return new UsageEvent(0, request, 0, 1, true, Decision.Outcome.ALLOWED, false, false, false);
	}

}
