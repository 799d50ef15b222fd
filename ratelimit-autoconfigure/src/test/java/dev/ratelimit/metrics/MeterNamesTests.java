package dev.ratelimit.metrics;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MeterNamesTests {

	private static final Path DOCS = Path.of("..", "docs", "monitoring.md");

	/**
	 * The first column of the table: a name, or several of which the others are short.
	 */
	@Test
	void everyMeterIsInTheTable() throws IOException {
		List<String> documented = new ArrayList<>();
		for (String line : Files.readAllLines(DOCS)) {
			if (line.startsWith("| `ratelimit.")) {
				String first = "";
				for (String name : line.substring(2, line.indexOf(" |", 2)).replace("`", "").split(", ")) {
					first = name.startsWith(".") ? first.substring(0, first.lastIndexOf('.')) + name : name;
					documented.add(first);
				}
			}
		}
		assertThat(documented).contains(names().toArray(String[]::new));
	}

	@Test
	void namesAreLowerCaseWithDotsAndOfOneFamily() {
		assertThat(names()).doesNotHaveDuplicates().allMatch((name) -> name.matches("ratelimit(\\.[a-z]+)+"));
	}

	private static List<String> names() {
		return Arrays.stream(MeterNames.class.getDeclaredFields())
			.filter((field) -> Modifier.isPublic(field.getModifiers()))
			.map(MeterNamesTests::value)
			.toList();
	}

	private static String value(Field field) {
		try {
			return (String) field.get(null);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
