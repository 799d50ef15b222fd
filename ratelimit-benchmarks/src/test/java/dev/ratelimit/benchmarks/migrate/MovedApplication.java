package dev.ratelimit.benchmarks.migrate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.testing.RedisServer;

/**
 * A running application with a configuration from the page, and its callers.
 */
record MovedApplication(ConfigurableApplicationContext context) implements AutoCloseable {

	private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30)).build();

	static MovedApplication start(Class<?> application, RedisServer redis, String yaml, String... arguments) {
		try {
			Path file = Files.createTempFile("migrate", ".yml");
			try {
				Files.writeString(file, yaml);
				List<String> all = new ArrayList<>(List.of("--spring.config.location=file:" + file, "--server.port=0",
						"--spring.data.redis.host=" + redis.host(), "--spring.data.redis.port=" + redis.port(),
						"--ratelimit.policies-store.snapshot-file=none", "--ratelimit.redis.timeout=5s"));
				all.addAll(List.of(arguments));
				return new MovedApplication(new SpringApplicationBuilder(application).web(WebApplicationType.REACTIVE)
					.run(all.toArray(String[]::new)));
			}
			finally {
				Files.delete(file);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends requests one after the other. */
	List<HttpResponse<String>> get(String path, int times) {
		return IntStream.range(0, times).mapToObj((i) -> send(path).join()).toList();
	}

	/** The statuses of requests that are sent one after the other. */
	List<Integer> statuses(String path, int times) {
		return get(path, times).stream().map(HttpResponse::statusCode).toList();
	}

	/** The statuses of requests that are sent at once. */
	List<Integer> statusesAtOnce(String path, int times) {
		List<CompletableFuture<HttpResponse<String>>> sent = Stream.generate(() -> send(path)).limit(times).toList();
		return sent.stream().map((response) -> response.join().statusCode()).toList();
	}

	private CompletableFuture<HttpResponse<String>> send(String path) {
		String port = this.context.getEnvironment().getProperty("local.server.port");
		return CLIENT.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
			.timeout(Duration.ofSeconds(60))
			.build(), HttpResponse.BodyHandlers.ofString());
	}

	@Override
	public void close() {
		this.context.close();
	}

}
