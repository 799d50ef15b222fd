package dev.ratelimit.benchmarks.migrate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The YAML blocks of docs/migrate.md.
 */
final class MigrationPage {

	private static final Path PAGE = Path.of("..", "docs", "migrate.md");

	private static final Pattern BLOCK = Pattern.compile("```yaml\n# (.+)\n((?s:.*?))```\n");

	private MigrationPage() {
	}

	/**
	 * All blocks, in their order.
	 */
	static List<Block> blocks() {
		return sections().stream().flatMap((section) -> {
			String title = section.lines().findFirst().orElseThrow();
			return BLOCK.matcher(section).results().map((found) -> new Block(title, found.group(1), found.group(2)));
		}).toList();
	}

	/**
	 * The block of a section whose comment in the first line is this one.
	 */
	static String block(String section, String name) {
		return blocks().stream()
			.filter((block) -> block.section().contains(section) && block.name().equals(name))
			.findFirst()
			.orElseThrow()
			.yaml();
	}

	private static List<String> sections() {
		try {
			return List.of(Files.readString(PAGE).split("(?m)^## "));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	record Block(String section, String name, String yaml) {

	}

}
