package dev.ratelimit;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page of types that users may use is right.
 */
class PublicTypesTests {

	private static final Pattern ROW = Pattern.compile("^\\| `(dev\\.ratelimit\\.[\\w.]+)` \\|", Pattern.MULTILINE);

	private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w+");

	/** Public for other packages of ours only. */
	private static final Set<String> OURS = Set.of("ApiKeyDigest", "EnumText", "PrintableText", "Sha256", "WindowTag",
			"Work");

	static List<String> listed() throws IOException {
		return ROW.matcher(Files.readString(Path.of("..", "docs", "api.md")))
			.results()
			.map((MatchResult row) -> row.group(1))
			.toList();
	}

	@ParameterizedTest
	@MethodSource("listed")
	void everyListedTypeIsPublic(String name) throws Exception {
		// Users' test modules and gRPC are not on this class path.
		if (!name.startsWith("dev.ratelimit.test.") && !name.startsWith("dev.ratelimit.grpc.")) {
			assertThat(Modifier.isPublic(Class.forName(name).getModifiers())).isTrue();
		}
		assertThat(sourceOf(name)).exists();
	}

	@Test
	void wholeVocabularyIsListed() throws IOException {
		Set<String> vocabulary = new TreeSet<>();
		try (Stream<Path> sources = Files
			.list(Path.of("..", "ratelimit-core", "src", "main", "java", "dev", "ratelimit"))) {
			sources.map((source) -> source.getFileName().toString())
				.filter((name) -> name.endsWith(".java") && !name.equals("package-info.java"))
				.map((name) -> name.replace(".java", ""))
				.filter((name) -> !OURS.contains(name))
				.forEach((name) -> vocabulary.add("dev.ratelimit." + name));
		}
		assertThat(listed().stream().filter((name) -> name.matches("dev\\.ratelimit\\.[A-Z]\\w*")))
			.containsExactlyInAnyOrderElementsOf(vocabulary);
	}

	@Test
	void everyTypeInAnExampleOfTheDocsIsListed() throws IOException {
		Map<String, String> types = publicTypes();
		Set<String> named = new TreeSet<>();
		try (Stream<Path> pages = Files.list(Path.of("..", "docs"))) {
			for (Path page : Stream.concat(pages, Stream.of(Path.of("..", "README.md")))
				.filter((file) -> file.toString().endsWith(".md"))
				.toList()) {
				EXAMPLE.matcher(Files.readString(page))
					.results()
					.flatMap((example) -> NAME.matcher(example.group(1)).results())
					.map((name) -> types.get(name.group()))
					.filter(Objects::nonNull)
					.forEach(named::add);
			}
		}
		assertThat(named).contains("dev.ratelimit.web.DimensionResolver").isSubsetOf(listed());
	}

	/** The public types of all modules for users, by simple name. */
	private static Map<String, String> publicTypes() throws IOException {
		Map<String, String> types = new TreeMap<>();
		for (String module : List.of("core", "control", "autoconfigure", "grpc", "test", "test-servers")) {
			Path root = Path.of("..", "ratelimit-" + module, "src", "main", "java");
			try (Stream<Path> sources = Files.walk(root)) {
				for (Path source : sources.filter((file) -> file.toString().endsWith(".java")).toList()) {
					String name = source.getFileName().toString().replace(".java", "");
					if (Files.readString(source).matches("(?s).*\\npublic [^\\n]*\\b" + name + "\\b.*")) {
						types.put(name,
								root.relativize(source)
									.toString()
									.replace(".java", "")
									.replace(File.separatorChar, '.'));
					}
				}
			}
		}
		return types;
	}

	private static Path sourceOf(String name) throws IOException {
		String file = name.replace('.', '/') + ".java";
		try (Stream<Path> modules = Files.list(Path.of(".."))) {
			return modules.map((module) -> module.resolve("src/main/java").resolve(file))
				.filter(Files::exists)
				.collect(Collectors.collectingAndThen(Collectors.toList(),
						(found) -> found.isEmpty() ? Path.of(file) : found.get(0)));
		}
	}

}
