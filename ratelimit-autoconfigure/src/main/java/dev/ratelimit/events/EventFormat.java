package dev.ratelimit.events;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Pseudonyms;
import dev.ratelimit.web.Json;

/**
 * Writes events as CloudEvents 1.0 in JSON, in structured mode: the value of a record is
 * the whole event, so that it is still one where headers are not kept.
 */
final class EventFormat {

	static final String CONTENT_TYPE = "application/cloudevents+json; charset=UTF-8";

	static final String TYPE = "dev.ratelimit.usage.v1";

	/** Names from the configuration, not facts about a person. */
	private static final Set<Dimension> PLAIN = Set.of(Dimension.ROUTE, Dimension.REGION);

	private final Pseudonyms pseudonyms;

	private final String source;

	/**
	 * With the source it makes an event unique: the instance is named anew at a start.
	 */
	private long number;

	EventFormat(Pseudonyms pseudonyms, String region, String instance) {
		this.pseudonyms = pseudonyms;
		this.source = path("/ratelimit/" + region + "/" + instance);
	}

	/**
	 * Writes an event. Its key is what stands in for the tenant, so that the events of a
	 * tenant stay in order.
	 */
	EventMessage write(UsageEvent event) {
		Map<String, String> caller = caller(event.request());
		String tenant = caller.get(Dimension.TENANT.name());
		Map<String, Object> attributes = new LinkedHashMap<>(16);
		attributes.put("specversion", "1.0");
		attributes.put("id", Long.toString(++this.number));
		attributes.put("source", this.source);
		attributes.put("type", TYPE);
		attributes.put("subject", event.request().policy());
		attributes.put("time", Instant.ofEpochMilli(event.millis()).toString());
		if (tenant != null) {
			attributes.put("partitionkey", tenant);
		}
		attributes.put("datacontenttype", "application/json");
		attributes.put("data", data(event, caller));
		return new EventMessage((tenant != null) ? bytes(tenant) : null, bytes(Json.write(attributes)));
	}

	private static Map<String, Object> data(UsageEvent event, Map<String, String> caller) {
		Request request = event.request();
		Map<String, Object> data = new LinkedHashMap<>(16);
		data.put("policy", request.policy());
		data.put("version", event.version());
		data.put("key", caller);
		data.put("cost", request.cost());
		data.put("granted", event.granted());
		data.put("allowed", event.allowed());
		data.put("outcome", event.outcome().text());
		data.put("shadow", event.shadow());
		data.put("degraded", event.degraded());
		if (request.id() != null) {
			data.put("requestId", request.id());
		}
		return data;
	}

	private Map<String, String> caller(Request request) {
		Map<String, String> caller = new TreeMap<>();
		request.dimensions()
			.forEach((dimension, value) -> caller.put(dimension.name(),
					PLAIN.contains(dimension) ? value : this.pseudonyms.of(dimension, value)));
		return caller;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** A source is a URI, and a region may be called anything. */
	private static String path(String text) {
		try {
			return new URI(null, null, text, null).toASCIIString();
		}
		catch (URISyntaxException ex) {
			throw new IllegalArgumentException("region cannot be part of a URI", ex);
		}
	}

}
