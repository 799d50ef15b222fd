package dev.ratelimit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Comments, messages and docs avoid phrases that readers new to the project stumble on.
 */
class PlainEnglishTests {

	private static final Path ROOT = Path.of("..");

	private static final Set<String> TEXTS = Set.of("java", "md", "lua", "yml", "yaml", "json", "proto", "sql", "py");

	/** Two dots stand for any words of the same sentence. */
	private static final List<Pattern> RIDDLES = Stream
		.of("be meant", "goes by", "told", "what it was", "as it was(?! sent)", "a store less", "no .. any more",
				"nobody .. any more", "nothing .. any more", "taken at their word", "without what it is without")
		.map(PlainEnglishTests::riddle)
		.toList();

	@Test
	void commentsMessagesAndDocsHaveNoRiddles() throws IOException {
		List<Path> files = files();
		assertThat(files).hasSizeGreaterThan(100)
			.contains(ROOT.resolve("README.md"), ROOT.resolve("CHANGELOG.md"), ROOT.resolve("CONTRIBUTING.md"),
					ROOT.resolve("docs/policies.md"), ROOT.resolve("config-samples/gateway.yml"),
					ROOT.resolve("ratelimit-core/src/main/resources/META-INF/ratelimit/gcra.lua"),
					ROOT.resolve("ratelimit-gateway-app/src/main/resources/application.yml"),
					ROOT.resolve("ratelimit-grpc/src/main/proto/ratelimit/v1/ratelimit.proto"));
		assertThat(files.stream().flatMap(PlainEnglishTests::riddles)).isEmpty();
	}

	@Test
	void riddleIsFoundAcrossTheLinesOfAComment() {
		Stream<String> found = riddles("Some.java",
				"/**\n * A value that cannot be\n * meant.\n */\n// Nobody\n// asks any more.");
		assertThat(found).containsExactly("Some.java:2 be meant", "Some.java:5 Nobody asks any more");
		assertThat(riddles("Some.java", "// Nobody asks. There are not any more.")).isEmpty();
	}

	@Test
	void ofAScriptOnlyCommentsAreRead() {
		assertThat(riddles("some.lua", "local told = 1\n-- What it was told.")).containsExactly("some.lua:2 told",
				"some.lua:2 What it was");
	}

	private static List<Path> files() throws IOException {
		try (Stream<Path> modules = Files.list(ROOT)) {
			Stream<Path> folders = modules.flatMap((module) -> Stream.of("java", "resources", "proto", "python")
				.map((name) -> module.resolve("src/main").resolve(name)));
			return Stream
				.of(Stream.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md").map(ROOT::resolve),
						Stream.concat(Stream.of("docs", "config-samples").map(ROOT::resolve), folders)
							.filter(Files::isDirectory)
							.flatMap(PlainEnglishTests::texts))
				.flatMap(Function.identity())
				.toList();
		}
	}

	private static Stream<Path> texts(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> TEXTS.contains(file.toString().replaceAll(".*\\.", "")))
				.sorted()
				.toList()
				.stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<String> riddles(Path file) {
		try {
			return riddles(file.toString(), Files.readString(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Each as file, line and text. */
	private static Stream<String> riddles(String file, String written) {
		String text = file.endsWith(".lua") ? written.replaceAll("(?m)^(?!.*--).*$|^.*?(?=--)", "") : written;
		return RIDDLES.stream()
			.flatMap((riddle) -> riddle.matcher(text).results())
			.map((found) -> file + ":" + line(text, found.start()) + " " + found.group().replaceAll("[\\s*/#-]+", " "));
	}

	private static long line(String text, int position) {
		return 1 + text.substring(0, position).chars().filter((c) -> c == '\n').count();
	}

	private static Pattern riddle(String phrase) {
		return Pattern.compile("\\b" + phrase.replace(" .. ", " (?:[^.]{0,80}? )?").replace(" ", "[\\s*/#-]+") + "\\b",
				Pattern.CASE_INSENSITIVE);
	}

}
