package dev.ratelimit.app.walk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * As much of {@code curl} as the docs use. The ports that they name stand for those that
 * the gateways of the test have.
 */
final class Curl {

	private static final Pattern RANGE = Pattern.compile("\\[(\\d+)-(\\d+)]");

	private static final Pattern HEADER = Pattern.compile("%header\\{([^}]+)}");

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Map<String, Integer> ports;

	/**
	 * Creates it.
	 * @param ports by the host and port in the docs
	 */
	Curl(Map<String, Integer> ports) {
		this.ports = ports;
	}

	/** What it prints. */
	String run(List<String> arguments) {
		HttpRequest.Builder request = HttpRequest.newBuilder().timeout(Duration.ofSeconds(10));
		String method = "GET";
		HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.noBody();
		boolean silent = false;
		String format = "";
		List<String> urls = new ArrayList<>();
		for (int i = 0; i < arguments.size(); i++) {
			switch (arguments.get(i)) {
				case "-s" -> {
				}
				case "-so" -> silent = arguments.get(++i).equals("/dev/null");
				case "-w" -> format = arguments.get(++i);
				case "-X" -> method = arguments.get(++i);
				case "-d" -> body = HttpRequest.BodyPublishers.ofString(arguments.get(++i));
				case "-H" -> {
					String[] header = arguments.get(++i).split(": ", 2);
					request.header(header[0], header[1]);
				}
				default -> urls.addAll(expand(arguments.get(i)));
			}
		}
		request.method(method, body);
		StringBuilder output = new StringBuilder();
		for (String url : urls) {
			HttpResponse<String> response = send(request.uri(uri(url)).build());
			output.append(silent ? "" : response.body());
			output.append(format(format, response));
		}
		return output.toString();
	}

	private static String format(String format, HttpResponse<String> response) {
		return HEADER.matcher(format.replace("%{http_code}", String.valueOf(response.statusCode())))
			.replaceAll((header) -> response.headers().firstValue(header.group(1)).orElse(""))
			.replace("\\n", "\n");
	}

	private HttpResponse<String> send(HttpRequest request) {
		try {
			return this.client.send(request, HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private URI uri(String url) {
		String address = url.substring(0, url.indexOf('/'));
		Integer port = this.ports.get(address);
		if (port == null) {
			throw new IllegalArgumentException("nothing listens on " + address);
		}
		return URI.create("http://localhost:" + port + url.substring(address.length()));
	}

	/** {@code [1-3]} stands for three addresses; of several the last counts fastest. */
	private static List<String> expand(String url) {
		Matcher range = RANGE.matcher(url);
		if (!range.find()) {
			return List.of(url);
		}
		List<String> urls = new ArrayList<>();
		for (int i = Integer.parseInt(range.group(1)); i <= Integer.parseInt(range.group(2)); i++) {
			urls.addAll(expand(url.substring(0, range.start()) + i + url.substring(range.end())));
		}
		return urls;
	}

}
