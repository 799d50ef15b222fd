package dev.ratelimit.autoconfigure;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * Binds a JSON object to a record of properties as Boot binds the same in YAML, but
 * demands that each field is known and has the shape that is wanted: a slip must not be a
 * default.
 */
final class DocumentBinder {

	/** Name of a document whose fields go by their own names. */
	static final String BODY = "body";

	private final Map<String, Object> properties = new HashMap<>();

	private DocumentBinder() {
	}

	/**
	 * Binds a document.
	 * @param name what it goes by in what is said about it
	 * @throws InvalidPolicyException naming the field, the value and the fix
	 */
	static <T> T bind(String name, Class<T> type, Map<String, Object> document) {
		DocumentBinder binder = new DocumentBinder();
		binder.add(name, type, document);
		try {
			return new Binder(new MapConfigurationPropertySource(binder.properties)).bindOrCreate(name,
					Bindable.of(type));
		}
		catch (BindException ex) {
			throw failure(ex);
		}
	}

	/**
	 * What is wrong with a value that could not be bound, and the fix.
	 */
	static InvalidPolicyException failure(BindException ex) {
		String field = shown(ex.getName().toString());
		ConfigurationProperty property = ex.getProperty();
		return new InvalidPolicyException(field,
				"'" + field + "' cannot be " + ((property != null) ? "'" + property.getValue() + "'." : "this."),
				"Set '" + field + "' to " + wanted(ex.getTarget().getType().resolve(Object.class)) + ".");
	}

	private void add(String at, Type type, @Nullable Object value) {
		if (value == null) {
			throw new InvalidPolicyException(shown(at), "'" + shown(at) + "' is null.", "Leave it out.");
		}
		if (type instanceof Class<?> record && record.isRecord()) {
			addRecord(at, record, object(at, value));
		}
		else if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
			object(at, value).forEach(
					(key, element) -> add(at + '[' + name(at, key) + ']', map.getActualTypeArguments()[1], element));
		}
		else if (type instanceof ParameterizedType list && list.getRawType() == List.class
				&& value instanceof List<?> elements) {
			if (elements.isEmpty()) {
				this.properties.put(at, "");
			}
			for (int i = 0; i < elements.size(); i++) {
				add(at + '[' + i + ']', list.getActualTypeArguments()[0], elements.get(i));
			}
		}
		else if (value instanceof Map || value instanceof List) {
			throw new InvalidPolicyException(shown(at),
					"'" + shown(at) + "' is " + ((value instanceof Map) ? "an object" : "a list") + ".",
					"Set '" + shown(at) + "' to " + wanted(type) + ".");
		}
		else {
			this.properties.put(at, value.toString());
		}
	}

	private void addRecord(String at, Class<?> record, Map<?, ?> fields) {
		Map<String, Type> known = new LinkedHashMap<>();
		for (RecordComponent component : record.getRecordComponents()) {
			known.put(kebab(component.getName()), component.getGenericType());
		}
		fields.forEach((key, value) -> {
			String name = kebab(String.valueOf(key));
			Type type = known.get(name);
			if (type == null) {
				throw new InvalidPolicyException(shown(at + '.' + key),
						"There is no field '" + shown(at + '.' + key) + "'.",
						"Use one of: " + String.join(", ", known.keySet()) + ".");
			}
			add(at + '.' + name, type, value);
		});
	}

	private static Map<?, ?> object(String at, Object value) {
		if (!(value instanceof Map<?, ?> map)) {
			throw new InvalidPolicyException(shown(at), "'" + shown(at) + "' is not an object.",
					"Set '" + shown(at) + "' to a JSON object.");
		}
		return map;
	}

	private static String name(String at, Object key) {
		String name = String.valueOf(key);
		if (name.isEmpty() || name.contains("[") || name.contains("]")) {
			throw new InvalidPolicyException(shown(at),
					"A name in '" + shown(at) + "' is empty or has a bracket in it.", "Use a name without brackets.");
		}
		return name;
	}

	private static String kebab(String name) {
		return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
	}

	/** As somebody who reads JSON would say it. */
	private static String shown(String name) {
		String path = name.startsWith(BODY + '.') ? name.substring(BODY.length() + 1) : name;
		return path.replaceAll("\\[([^\\]/]*[^\\]/0-9][^\\]/]*)\\]", ".$1");
	}

	private static String wanted(@Nullable Type type) {
		if (type instanceof Class<?> enumeration && enumeration.isEnum()) {
			return "one of: " + Arrays.stream(enumeration.getEnumConstants())
				.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.collect(Collectors.joining(", "));
		}
		if (type == Duration.class) {
			return "a duration such as 10ms, 5s or 10m";
		}
		if (type == Instant.class) {
			return "a time such as 2026-01-01T00:00:00Z";
		}
		return (type == int.class || type == long.class || type == Long.class || type == Integer.class)
				? "a whole number" : "a text";
	}

}
