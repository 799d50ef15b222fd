package dev.ratelimit.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.core.convert.ConversionException;

import dev.ratelimit.EnumText;

/**
 * Binds a JSON object to a record of properties as Boot binds the same in YAML, but every
 * field has to be known and to have the right shape: a slip must not turn into a default.
 * Boot's own binder would need 2 ms for a policy, and there may be ten thousand.
 */
final class DocumentBinder {

	/** Name of a document whose fields are shown without a prefix. */
	static final String BODY = "body";

	/** Gets the names of unknown fields, {@code null} if there must be none. */
	private final @Nullable Consumer<String> unknown;

	private DocumentBinder(@Nullable Consumer<String> unknown) {
		this.unknown = unknown;
	}

	/**
	 * Binds a document.
	 * @param name its name in messages
	 * @throws InvalidPolicyException naming the field, the value and the fix
	 */
	static <T> T bind(String name, Class<T> type, Map<String, Object> document) {
		return type.cast(new DocumentBinder(null).record(name, type, document));
	}

	/**
	 * Binds a stored document without the fields that this release does not know: a newer
	 * one may have written them.
	 * @param unknown gets the name of each such field within the document
	 */
	static <T> T bindKnown(String name, Class<T> type, Map<String, Object> document, Consumer<String> unknown) {
		return type.cast(new DocumentBinder((field) -> unknown.accept(field.substring(name.length() + 1))).record(name,
				type, document));
	}

	/**
	 * Describes a value of the configuration that could not be bound.
	 */
	static InvalidPolicyException failure(BindException ex) {
		String field = shown(ex.getName().toString());
		ConfigurationProperty property = ex.getProperty();
		return new InvalidPolicyException(field,
				"'" + field + "' cannot be " + ((property != null) ? "'" + property.getValue() + "'." : "this."),
				"Set '" + field + "' to " + wanted(ex.getTarget().getType().resolve(Object.class)) + ".");
	}

	private Object value(String at, Type type, @Nullable Object value) {
		if (value == null) {
			throw new InvalidPolicyException(shown(at), "'" + shown(at) + "' is null.", "Leave it out.");
		}
		if (type instanceof Class<?> record && record.isRecord()) {
			return record(at, record, object(at, value));
		}
		if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
			Map<String, Object> bound = new LinkedHashMap<>();
			object(at, value).forEach((key, element) -> bound.put(String.valueOf(key),
					value(at + '[' + name(at, key) + ']', map.getActualTypeArguments()[1], element)));
			return bound;
		}
		if (type instanceof ParameterizedType list && list.getRawType() == List.class
				&& value instanceof List<?> elements) {
			List<Object> bound = new ArrayList<>(elements.size());
			for (int i = 0; i < elements.size(); i++) {
				bound.add(value(at + '[' + i + ']', list.getActualTypeArguments()[0], elements.get(i)));
			}
			return bound;
		}
		if (value instanceof Map || value instanceof List) {
			throw new InvalidPolicyException(shown(at),
					"'" + shown(at) + "' is " + ((value instanceof Map) ? "an object" : "a list") + ".",
					"Set '" + shown(at) + "' to " + wanted(type) + ".");
		}
		return scalar(at, type, value.toString());
	}

	private Object record(String at, Class<?> type, Map<?, ?> fields) {
		RecordShape shape = RecordShape.of(type);
		@Nullable Object[] values = shape.defaults();
		@Nullable String[] spellings = new @Nullable String[values.length];
		fields.forEach((key, value) -> {
			String name = String.valueOf(key);
			RecordShape.Field field = shape.field(name);
			if (field == null && this.unknown != null) {
				this.unknown.accept(shown(at + '.' + name));
				return;
			}
			if (field == null) {
				String shown = shown(at + '.' + name);
				throw FieldRules.unknown(shown, "There is no field '" + shown + "'.", Nearest.of(name, shape.names()),
						"Use one of: " + String.join(", ", shape.names()) + ".");
			}
			String other = spellings[field.place()];
			if (other != null) {
				String shown = shown(at + '.' + field.name());
				throw new InvalidPolicyException(shown, "'" + other + "' and '" + name + "' are the same field.",
						"Set '" + shown + "' once.");
			}
			spellings[field.place()] = name;
			// As in YAML, where an object without fields counts as absent.
			if (!(isRecord(field.type()) && value instanceof Map<?, ?> map && map.isEmpty())) {
				values[field.place()] = value(at + '.' + field.name(), field.type(), value);
			}
		});
		return shape.create(values);
	}

	private static Object scalar(String at, Type type, String text) {
		if (FieldRules.lacksUnit(type, text)) {
			throw FieldRules.withoutUnit(shown(at), text);
		}
		try {
			Object value = RecordShape.convert(text, type);
			if (value != null) {
				return value;
			}
		}
		catch (ConversionException ex) {
			// The exception below says it in fewer words.
		}
		throw new InvalidPolicyException(shown(at), "'" + shown(at) + "' cannot be '" + text + "'.",
				"Set '" + shown(at) + "' to " + wanted(type) + ".");
	}

	private static boolean isRecord(Type type) {
		return type instanceof Class<?> candidate && candidate.isRecord();
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
			throw new InvalidPolicyException(shown(at), "A name in '" + shown(at) + "' is empty or contains a bracket.",
					"Use a name without brackets.");
		}
		return name;
	}

	/**
	 * A path in the notation of JSON: {@code limits.per-user} for
	 * {@code limits[per-user]}.
	 */
	private static String shown(String name) {
		String path = name.startsWith(BODY + '.') ? name.substring(BODY.length() + 1) : name;
		return path.replaceAll("\\[([^\\]/]*[^\\]/0-9][^\\]/]*)\\]", ".$1");
	}

	private static String wanted(@Nullable Type type) {
		if (type instanceof Class<?> enumeration && enumeration.isEnum()) {
			return "one of: " + Arrays.stream(enumeration.getEnumConstants())
				.map((constant) -> EnumText.of((Enum<?>) constant))
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
