package dev.ratelimit.benchmarks.chaos;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;

/**
 * Switches faults over HTTP, on the loopback: GET shows them, POST changes those in the
 * query, DELETE ends them. {@code node=PORT} names one proxy.
 */
final class ControlPort implements AutoCloseable {

	private static final ObjectMapper JSON = new ObjectMapper();

	private final ProxiedNodes nodes;

	private final HttpServer server;

	ControlPort(ProxiedNodes nodes, int port) throws IOException {
		this.nodes = nodes;
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	int port() {
		return this.server.getAddress().getPort();
	}

	private void answer(HttpExchange exchange) throws IOException {
		int status = 200;
		Object body;
		try {
			Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
			String node = query.remove("node");
			switch (exchange.getRequestMethod()) {
				case "GET" -> {
				}
				case "POST" -> this.nodes.change(node, query);
				case "DELETE" -> this.nodes.heal(node);
				default -> status = 405;
			}
			body = this.nodes.nodes();
		}
		catch (IllegalArgumentException ex) {
			status = 400;
			body = Map.of("error", String.valueOf(ex.getMessage()));
		}
		byte[] bytes = JSON.writeValueAsBytes(body);
		try (exchange) {
			exchange.getResponseHeaders().set("Content-Type", "application/json");
			exchange.sendResponseHeaders(status, bytes.length);
			exchange.getResponseBody().write(bytes);
		}
	}

	private static Map<String, String> query(@Nullable String query) {
		Map<String, String> fields = new LinkedHashMap<>();
		if (query != null && !query.isEmpty()) {
			for (String field : query.split("&")) {
				String[] parts = field.split("=", 2);
				fields.put(decode(parts[0]), (parts.length > 1) ? decode(parts[1]) : "");
			}
		}
		return fields;
	}

	private static String decode(String text) {
		return URLDecoder.decode(text, StandardCharsets.UTF_8);
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

}
