package dev.ratelimit.events;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.json.Json;
import dev.ratelimit.json.JsonObject;

/**
 * Writes events as CloudEvents 1.0 in JSON, in structured mode: the value of a record is
 * the whole event, so that it is still one where headers are not kept.
 */
final class EventFormat {

	static final String CONTENT_TYPE = "application/cloudevents+json; charset=UTF-8";

	static final String TYPE = "dev.ratelimit.usage.v1";

	private final CallerNames names;

	private final String source;

	/**
	 * Unique together with the source: an instance has a new name at every start.
	 */
	private long number;

	EventFormat(CallerNames names, String region, String instance) {
		this.names = names;
		this.source = path("/ratelimit/" + region + "/" + instance);
	}

	/**
	 * Writes an event. Its key is the pseudonym of the tenant, so that the events of a
	 * tenant stay in order.
	 */
	EventMessage write(UsageEvent event) {
		Map<String, String> caller = this.names.of(event.request().dimensions());
		String tenant = caller.get(Dimension.TENANT.name());
		JsonObject attributes = new JsonObject().with("specversion", "1.0")
			.with("id", Long.toString(++this.number))
			.with("source", this.source)
			.with("type", TYPE)
			.with("subject", event.request().policy())
			.with("time", Instant.ofEpochMilli(event.millis()).toString())
			.with("partitionkey", tenant)
			.with("datacontenttype", "application/json")
			.with("data", data(event, caller));
		return new EventMessage((tenant != null) ? bytes(tenant) : null, bytes(Json.write(attributes)));
	}

	private static Map<String, Object> data(UsageEvent event, Map<String, String> caller) {
		Request request = event.request();
		return new JsonObject().with("policy", request.policy())
			.with("version", event.version())
			.with("key", caller)
			.with("cost", request.cost())
			.with("granted", event.granted())
			.with("allowed", event.allowed())
			.with("outcome", event.outcome().text())
			.with("shadow", event.shadow())
			.with("degraded", event.degraded())
			.with("replay", event.replay() ? true : null)
			.with("requestId", request.id());
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** A source is a URI, and the name of a region may contain any character. */
	private static String path(String text) {
		try {
			return new URI(null, null, text, null).toASCIIString();
		}
		catch (URISyntaxException ex) {
			throw new IllegalArgumentException("region cannot be part of a URI", ex);
		}
	}

}
