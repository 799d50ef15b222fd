package dev.ratelimit.benchmarks.experiment;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.Table;

/**
 * Responses of a gateway with all their headers: allowed, refused, banned and degraded.
 *
 * @param port of the gateway
 */
record Responses(int port) {

	/** More refusals than this in a row are a ban. */
	private static final int BANNED_AFTER = 20;

	/** Requests of one caller; the limit is 100/s. */
	private static final int MOST = 2_000;

	/** The policy of the route for captured responses. */
	static String[] properties() {
		String policy = "--ratelimit.policies.generated.";
		return new String[] { policy + "penalty.after=" + BANNED_AFTER / 2, policy + "penalty.cool-down=1s",
				policy + "penalty.ban-after=" + BANNED_AFTER, policy + "penalty.ban-for=1m",
				policy + "costs.[/generated/50]=50" };
	}

	/** Asks until each kind was seen, or for long enough. */
	Table capture(MeasuredRedis redis) throws IOException, InterruptedException {
		Table table = new Table("Responses of a gateway:", List.of("case", "status", "headers", "body"));
		HttpClient client = HttpClient.newHttpClient();
		add(table, "allowed", send(client, "10.1.0.1"));
		HttpResponse<String> refused = until(client, 429, false);
		add(table, "refused", refused);
		add(table, "banned", until(client, 429, true));
		new ProcessBuilder("kill", "-STOP", String.valueOf(redis.pid())).start().waitFor();
		try {
			add(table, "degraded, `allow`", send(client, "10.1.0.3"));
		}
		finally {
			new ProcessBuilder("kill", "-CONT", String.valueOf(redis.pid())).start().waitFor();
		}
		return table;
	}

	private HttpResponse<String> until(HttpClient client, int status, boolean banned)
			throws IOException, InterruptedException {
		HttpResponse<String> response = send(client, "10.1.0.2");
		for (int i = 0; i < MOST && !(response.statusCode() == status
				&& response.body().contains("abnormal-usage-detected") == banned); i++) {
			response = send(client, "10.1.0.2");
		}
		return response;
	}

	private HttpResponse<String> send(HttpClient client, String caller) throws IOException, InterruptedException {
		// Costs 50, so that a second's permits are used up by three requests.
		URI uri = URI.create("http://127.0.0.1:" + this.port + "/generated/50");
		return client.send(HttpRequest.newBuilder(uri).header("X-Forwarded-For", caller).build(),
				HttpResponse.BodyHandlers.ofString());
	}

	private static void add(Table table, String name, HttpResponse<String> response) {
		String headers = response.headers()
			.map()
			.entrySet()
			.stream()
			.filter((header) -> header.getKey().toLowerCase(Locale.ROOT).contains("ratelimit")
					|| header.getKey().equalsIgnoreCase("retry-after"))
			.map((header) -> "`" + header.getKey() + ": " + String.join(", ", header.getValue()) + "`")
			.collect(Collectors.joining("<br>"));
		table.add(name, response.statusCode(), headers,
				"`" + response.body().replace("\n", " ").replace("|", "\\|") + "`");
	}

}
