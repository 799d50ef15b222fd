package dev.ratelimit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Comments, messages and docs avoid phrases that readers new to the project stumble on.
 */
class PlainEnglishTests {

	private static final Path ROOT = Path.of("..");

	/** Two dots stand for any words of the same sentence. */
	private static final List<Pattern> RIDDLES = Stream
		.of("be meant", "goes by", "is told of", "what it was", "a store less", "nobody .. any more",
				"taken at their word", "without what it is without")
		.map(PlainEnglishTests::riddle)
		.toList();

	@Test
	void commentsMessagesAndDocsHaveNoRiddles() throws IOException {
		List<Path> files = files();
		assertThat(files).hasSizeGreaterThan(100).contains(ROOT.resolve("README.md"), ROOT.resolve("docs/policies.md"));
		assertThat(files.stream().flatMap(PlainEnglishTests::riddles)).isEmpty();
	}

	@Test
	void riddleIsFoundAcrossTheLinesOfAComment() {
		Stream<String> found = riddles("Some.java",
				"/**\n * A value that cannot be\n * meant.\n */\n// Nobody\n// asks any more.");
		assertThat(found).containsExactly("Some.java:2 be meant", "Some.java:5 Nobody asks any more");
		assertThat(riddles("Some.java", "// Nobody asks. There are not any more.")).isEmpty();
	}

	private static List<Path> files() throws IOException {
		try (Stream<Path> modules = Files.list(ROOT)) {
			return Stream.concat(Stream.of(ROOT.resolve("README.md")), Stream
				.concat(Stream.of(ROOT.resolve("docs")), modules.map((module) -> module.resolve("src/main/java")))
				.filter(Files::isDirectory)
				.flatMap(PlainEnglishTests::texts)).toList();
		}
	}

	private static Stream<Path> texts(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> file.toString().endsWith(".java") || file.toString().endsWith(".md"))
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
	private static Stream<String> riddles(String file, String text) {
		return RIDDLES.stream()
			.flatMap((riddle) -> riddle.matcher(text).results())
			.map((found) -> file + ":" + line(text, found.start()) + " " + found.group().replaceAll("[\\s*/]+", " "));
	}

	private static long line(String text, int position) {
		return 1 + text.substring(0, position).chars().filter((c) -> c == '\n').count();
	}

	private static Pattern riddle(String phrase) {
		return Pattern.compile("\\b" + phrase.replace(" .. ", " [^.]{0,80}? ").replace(" ", "[\\s*/]+") + "\\b",
				Pattern.CASE_INSENSITIVE);
	}

}
