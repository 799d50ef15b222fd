package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.core.env.Environment;

/**
 * Address of the policy store without credentials, to tell the files of two stores apart.
 *
 * @param text empty if the address is unknown
 */
record StoreName(String text) {

	/** Options of the PostgreSQL driver that choose the schema. */
	private static final List<String> SCHEMA = List.of("schema", "options");

	/**
	 * Host, database and schema, as they are configured. The address of a
	 * {@code ConnectionFactory} that the application makes by itself is unknown.
	 */
	static StoreName sql(Environment environment) {
		String[] url = environment.getProperty("spring.r2dbc.url", "").split("\\?", 2);
		String address = url[0].replaceFirst("^.*//", "").replaceFirst("^.*@", "");
		if (address.isEmpty()) {
			return new StoreName("");
		}
		Stream<String> query = Stream.of((url.length > 1) ? url[1].split("&") : new String[0])
			.filter((option) -> SCHEMA.contains(option.replaceFirst("=.*$", "")));
		Stream<String> properties = Stream
			.concat(Stream.of("spring.r2dbc.name"), SCHEMA.stream().map("spring.r2dbc.properties."::concat))
			.map(environment::getProperty)
			.filter(Objects::nonNull);
		return new StoreName(Stream.of(Stream.of("sql-" + address), query, properties)
			.flatMap((part) -> part)
			.collect(Collectors.joining(",")));
	}

}
