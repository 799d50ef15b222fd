package dev.ratelimit.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

import dev.ratelimit.control.FieldNames;

/**
 * Properties under {@code ratelimit} of other modules and of the application, from the
 * metadata that their build makes for editors. A group that is bound to a record is known
 * by that record, all others by the names in the file.
 *
 * @param groups groups that are bound to records
 * @param names all other names, as Boot compares them, without dots
 */
record PropertyMetadata(List<Group> groups, Set<String> names) {

	private static final String FILE = "META-INF/spring-configuration-metadata.json";

	private static final String PREFIX = PropertyNames.ROOT + ".";

	static PropertyMetadata load(ClassLoader classLoader) {
		PropertyMetadata metadata = new PropertyMetadata(new ArrayList<>(), new HashSet<>());
		try {
			for (URL file : Collections.list(classLoader.getResources(FILE))) {
				String text = text(file);
				// Boot's own files are large, and parsing them takes longer than all
				// else.
				if (text.contains('"' + PREFIX)) {
					metadata.add(JsonParserFactory.getJsonParser().parseMap(text), classLoader);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return metadata;
	}

	/** Whether a name or the beginning of a name is in a file. */
	boolean has(PropertyNames.Name name) {
		for (int end = 2; end <= name.size(); end++) {
			if (this.names.contains(name.text(1, end))) {
				return true;
			}
		}
		return false;
	}

	private void add(Map<String, Object> file, ClassLoader classLoader) {
		Set<String> records = new HashSet<>();
		Set<String> ours = new HashSet<>();
		for (Map<?, ?> group : entries(file, "groups")) {
			Object source = group.get("sourceType");
			if (RateLimitProperties.class.getName().equals(source)) {
				ours.add(String.valueOf(group.get("type")));
			}
			Class<?> type = (source != null && source.equals(group.get("type"))) ? record(source, classLoader) : null;
			if (type != null && type != RateLimitProperties.class && group.get("name") instanceof String name
					&& name.startsWith(PREFIX)) {
				this.groups.add(new Group(name, type));
				records.add(name + '.');
			}
		}
		for (Map<?, ?> property : entries(file, "properties")) {
			String source = String.valueOf(property.get("sourceType"));
			if (ours.stream().noneMatch(source::startsWith) && property.get("name") instanceof String name
					&& name.startsWith(PREFIX) && records.stream().noneMatch(name::startsWith)) {
				this.names.add(text(name));
			}
		}
	}

	private static List<Map<?, ?>> entries(Map<String, Object> file, String section) {
		List<Map<?, ?>> entries = new ArrayList<>();
		if (file.get(section) instanceof List<?> list) {
			for (Object entry : list) {
				if (entry instanceof Map<?, ?> map) {
					entries.add(map);
				}
			}
		}
		return entries;
	}

	private static @Nullable Class<?> record(Object name, ClassLoader classLoader) {
		try {
			Class<?> type = ClassUtils.forName(name.toString(), classLoader);
			return type.isRecord() ? type : null;
		}
		catch (ClassNotFoundException | LinkageError ex) {
			// An optional module whose libraries are missing: its names are still known.
			return null;
		}
	}

	private static String text(URL file) throws IOException {
		URLConnection connection = file.openConnection();
		connection.setUseCaches(false);
		try (InputStream stream = connection.getInputStream()) {
			return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private static String text(String name) {
		return FieldNames.uniform(name.substring(PREFIX.length()).replace(".", ""));
	}

	/**
	 * Properties that are bound to a record.
	 *
	 * @param name their common prefix
	 */
	record Group(String name, Class<?> type) {

		/** Whether our rules hold for its values. */
		boolean ours() {
			return this.type.getName().startsWith("dev.ratelimit.");
		}

		/** Where its elements end in a name. */
		int size() {
			return this.name.split("\\.").length;
		}

		String text() {
			return PropertyMetadata.text(this.name);
		}

	}

}
