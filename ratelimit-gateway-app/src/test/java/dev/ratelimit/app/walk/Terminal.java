package dev.ratelimit.app.walk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Runs the commands of the docs without a shell, which not every machine that builds has.
 * It knows variables, {@code curl}, {@code redis-cli}, a loop over {@code seq} and the
 * filters that are used there; anything else is an error.
 */
final class Terminal {

	private static final Pattern ASSIGNMENT = Pattern.compile("(?s)([A-Z]+)=(.*)");

	private static final Pattern LOOP = Pattern.compile("for ([A-Z]+) in \\$\\(seq (\\d+)\\); do");

	private static final ObjectMapper JSON = new ObjectMapper();

	private final Map<String, String> variables = new HashMap<>();

	private final Curl curl;

	private final RedisCli redis;

	Terminal(Curl curl, RedisCli redis) {
		this.curl = curl;
		this.redis = redis;
	}

	/** What the commands print. */
	String run(String script) {
		return runAll(ShellText.split(script, '\n').stream().map(String::strip).filter((line) -> !line.isEmpty()));
	}

	private String runAll(Stream<String> commands) {
		StringBuilder output = new StringBuilder();
		List<String> body = null;
		String loop = null;
		for (String command : commands.toList()) {
			if (command.startsWith("for ")) {
				loop = command;
				body = new ArrayList<>();
			}
			else if (loop != null && body != null && command.startsWith("done")) {
				output.append(filter(repeat(loop, body), ShellText.split(command, '|')));
				loop = null;
			}
			else if (loop != null && body != null) {
				body.add(command);
			}
			else {
				output.append(runOne(command));
			}
		}
		return output.toString();
	}

	private String repeat(String loop, List<String> body) {
		Matcher matcher = LOOP.matcher(loop);
		if (!matcher.matches()) {
			throw new IllegalArgumentException(loop);
		}
		StringBuilder output = new StringBuilder();
		for (int i = 1; i <= Integer.parseInt(matcher.group(2)); i++) {
			this.variables.put(matcher.group(1), String.valueOf(i));
			output.append(runAll(body.stream()));
		}
		return output.toString();
	}

	private String runOne(String command) {
		Matcher assignment = ASSIGNMENT.matcher(command);
		if (assignment.matches()) {
			this.variables.put(assignment.group(1), String.join(" ", words(assignment.group(2))));
			return "";
		}
		List<String> pipeline = ShellText.split(command, '|');
		List<String> words = words(pipeline.get(0));
		List<String> arguments = words.subList(1, words.size());
		String output = switch (words.get(0)) {
			case "curl" -> this.curl.run(arguments);
			case "redis-cli" -> this.redis.run(arguments);
			default -> throw new IllegalArgumentException(command);
		};
		return filter(output, pipeline);
	}

	private String filter(String input, List<String> pipeline) {
		String output = input;
		for (String filter : pipeline.subList(1, pipeline.size())) {
			output = filter(output, filter.strip());
		}
		return output;
	}

	private String filter(String input, String filter) {
		List<String> words = words(filter);
		Stream<String> lines = switch (words.get(0)) {
			case "sort" ->
				(words.contains("-u") ? new TreeSet<>(input.lines().toList()).stream() : input.lines().sorted());
			case "uniq" -> new TreeMap<>(input.lines().collect(Collectors.groupingBy((line) -> line))).entrySet()
				.stream()
				.map((line) -> "%7d %s".formatted(line.getValue().size(), line.getKey()));
			case "grep" -> input.lines().filter((line) -> line.contains(words.get(1)));
			case "cut" -> input.lines().map((line) -> Arrays.asList(line.split("\"")).get(3));
			case "jq" -> Stream.of(json(input, words.get(2)));
			default -> throw new IllegalArgumentException(filter);
		};
		return lines.map((line) -> line + '\n').collect(Collectors.joining());
	}

	/** The part of a document that a path such as {@code .history[0]} leads to. */
	private static String json(String document, String path) {
		try {
			return JSON.writeValueAsString(
					JSON.readTree(document).at(path.replace("[", "/").replace("]", "").replace(".", "/")));
		}
		catch (JsonProcessingException ex) {
			throw new IllegalArgumentException(document, ex);
		}
	}

	private List<String> words(String command) {
		return ShellText.words(command, this.variables::get, (nested) -> run(nested).strip());
	}

}
