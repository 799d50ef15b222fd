package dev.ratelimit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
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
 * The text of each package lists its classes, as {@code docs/architecture.md} says.
 */
class PackageTextsTests {

	private static final String TEXT = "package-info.java";

	private static final Pattern LINK = Pattern.compile("\\{@link\\s[\\s*]*([A-Z]\\w*)}");

	private static final Pattern PUBLIC = Pattern
		.compile("^public (?:final |abstract |sealed )*(?:class|interface|enum|record|@interface) ", Pattern.MULTILINE);

	static List<Path> packages() throws IOException {
		try (Stream<Path> files = Stream.of("core", "control", "autoconfigure", "test", "test-servers")
			.map((module) -> Path.of("..", "ratelimit-" + module, "src", "main", "java"))
			.flatMap(PackageTextsTests::walk)) {
			return files.filter((file) -> file.endsWith(TEXT)).map(Path::getParent).toList();
		}
	}

	@ParameterizedTest
	@MethodSource("packages")
	void textLinksTypesOfThePackageOnly(Path folder) throws IOException {
		assertThat(types(folder)).containsAll(linked(folder));
	}

	@ParameterizedTest
	@MethodSource("packages")
	void textLinksEveryPublicTypeOfThePackage(Path folder) throws IOException {
		Set<String> wanted = new TreeSet<>();
		for (String type : types(folder)) {
			if (PUBLIC.matcher(Files.readString(folder.resolve(type + ".java"))).find()) {
				wanted.add(type);
			}
		}
		assertThat(linked(folder)).containsAll(wanted);
	}

	@Test
	void packagesAreFound() throws IOException {
		assertThat(packages()).hasSizeGreaterThan(30);
	}

	private static Set<String> linked(Path folder) throws IOException {
		return LINK.matcher(Files.readString(folder.resolve(TEXT)))
			.results()
			.map((MatchResult link) -> link.group(1))
			.collect(Collectors.toSet());
	}

	private static Set<String> types(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			return files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.endsWith(".java") && !name.equals(TEXT))
				.map((name) -> name.replace(".java", ""))
				.collect(Collectors.toSet());
		}
	}

	private static Stream<Path> walk(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.toList().stream();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
