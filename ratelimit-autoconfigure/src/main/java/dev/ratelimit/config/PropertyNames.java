package dev.ratelimit.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.control.FieldNames;

/**
 * Knows the names under {@code ratelimit} and what each is bound to. They come from the
 * records that the properties are bound to, so policies, which are values of a map, are
 * known down to their last field. The metadata of other modules and of the application is
 * read only for names that are not ours.
 */
final class PropertyNames {

	static final String ROOT = "ratelimit";

	private static final Pattern PLAIN = Pattern.compile("[a-z0-9-]+");

	private static final Pattern INDEX = Pattern.compile("\\d+");

	private final ClassLoader classLoader;

	private @Nullable PropertyMetadata metadata;

	PropertyNames(ClassLoader classLoader) {
		this.classLoader = classLoader;
	}

	Meaning meaning(Name name) {
		Meaning own = walk(RateLimitProperties.class, ROOT, name, 1);
		if (own.kind() != Kind.UNKNOWN) {
			return own;
		}
		PropertyMetadata metadata = metadata();
		if (metadata.has(name)) {
			return Meaning.known(null);
		}
		Meaning best = own;
		for (PropertyMetadata.Group group : metadata.groups()) {
			best = best.or(within(group, name));
		}
		return best;
	}

	private PropertyMetadata metadata() {
		PropertyMetadata known = this.metadata;
		if (known == null) {
			known = PropertyMetadata.load(this.classLoader);
			this.metadata = known;
		}
		return known;
	}

	private static Meaning within(PropertyMetadata.Group group, Name name) {
		for (int end = 2; end <= name.longest(group.size()); end++) {
			if (name.text(1, end).equals(group.text())) {
				Meaning found = walk(group.type(), group.name(), name, end);
				return (found.kind() == Kind.KNOWN && !group.ours()) ? Meaning.known(null) : found;
			}
		}
		return unknown(ROOT, List.of(group.name().substring(ROOT.length() + 1)), name, 1,
				Math.min(group.size(), name.size()));
	}

	private static Meaning walk(Type type, String path, Name name, int at) {
		if (at == name.size()) {
			return known(type, path, name, at);
		}
		if (type instanceof Class<?> record && record.isRecord()) {
			return field(RecordShape.of(record), path, name, at);
		}
		if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
			return entry(map.getActualTypeArguments()[1], path, name, at);
		}
		if (isList(type) && INDEX.matcher(name.element(at)).matches()) {
			return walk(((ParameterizedType) type).getActualTypeArguments()[0], path + '[' + name.element(at) + ']',
					name, at + 1);
		}
		if (isList(type) || (type instanceof Class<?> scalar && isScalar(scalar))) {
			return new Meaning(Kind.UNKNOWN, null, path, name.text(at, name.size()).length());
		}
		// A type of another module, whose fields are not known.
		return Meaning.known(null);
	}

	private static boolean isScalar(Class<?> type) {
		return type.isEnum() || type.isPrimitive() || type.getName().startsWith("java.");
	}

	private static boolean isList(Type type) {
		return type instanceof ParameterizedType list && list.getRawType() == List.class;
	}

	private static Meaning field(RecordShape shape, String path, Name name, int at) {
		Meaning best = Meaning.NONE;
		for (int end = at + 1; end <= name.longest(at + 1); end++) {
			String text = name.text(at, end);
			RecordShape.Field field = shape.field(text);
			if (field != null) {
				best = best.or(walk(field.type(), path + '.' + field.name(), name, end));
			}
			else {
				best = best.or(unknown(path, shape.names(), name, at, end));
			}
		}
		return best;
	}

	private static Meaning entry(Type value, String path, Name name, int at) {
		if (!(value instanceof Class<?> type && type.isRecord()) && (name.variable() || value instanceof Class<?>)) {
			// The key is the rest of the name, dots included.
			return known(value, path, name, at);
		}
		// A variable ends with a field, which a key with underscores must not include.
		int longest = name.variable() ? name.size() - 1 : at + 1;
		Meaning best = Meaning.NONE;
		for (int end = at + 1; end <= longest; end++) {
			best = best.or(walk(value, path + name.shown(at, end), name, end));
		}
		return best;
	}

	/**
	 * A name that exists. Boot knows two spellings of a variable: with an underscore for
	 * each dash, or without dashes.
	 * @param path the property that the elements before {@code end} name
	 */
	private static Meaning known(Type type, String path, Name name, int end) {
		if (name.variable()) {
			String variable = String.join("_", name.elements().subList(0, end));
			String dotted = path.replace('[', '.').replace("]", "").replace('.', '_');
			String right = dotted.replace('-', '_');
			if (!variable.equals(right) && !variable.replace("-", "").equals(dotted.replace("-", ""))) {
				return new Meaning(Kind.KNOWN, type, right.toUpperCase(Locale.ROOT), 1);
			}
		}
		return Meaning.known(type);
	}

	private static Meaning unknown(String path, Collection<String> names, Name name, int at, int end) {
		String text = name.text(at, end);
		Meaning best = Meaning.NONE;
		for (String candidate : names) {
			String rest = name.variable() ? "" : name.shown(end, name.size());
			best = best.or(new Meaning(Kind.UNKNOWN, null, path + '.' + candidate + rest,
					Nearest.distance(text, FieldNames.uniform(candidate))));
		}
		return best;
	}

	enum Kind {

		KNOWN, UNKNOWN

	}

	/**
	 * What a name means.
	 *
	 * @param type what its value is bound to, {@code null} if that is not ours
	 * @param nearest for an unknown name, the most similar known one; for a variable in a
	 * spelling that Boot does not read, the right spelling
	 * @param distance number of characters in which the nearest name differs
	 */
	record Meaning(Kind kind, @Nullable Type type, @Nullable String nearest, int distance) {

		static final Meaning NONE = new Meaning(Kind.UNKNOWN, null, null, Integer.MAX_VALUE);

		static Meaning known(@Nullable Type type) {
			return new Meaning(Kind.KNOWN, type, null, 0);
		}

		/** The better of two readings of the same name. */
		Meaning or(Meaning other) {
			int order = this.kind.compareTo(other.kind);
			return (order < 0 || (order == 0 && this.distance <= other.distance)) ? this : other;
		}

	}

	/**
	 * A name in its elements, the first of which is {@code ratelimit}.
	 *
	 * @param variable whether it is the name of an environment variable, in which an
	 * underscore separates elements or stands for a dash
	 */
	record Name(List<String> elements, boolean variable) {

		int size() {
			return this.elements.size();
		}

		String element(int at) {
			return this.elements.get(at);
		}

		/** Largest possible end of an element that could end here. */
		int longest(int end) {
			return this.variable ? size() : Math.min(end, size());
		}

		/** Some elements joined, as Boot compares names. */
		String text(int from, int to) {
			return FieldNames.uniform(String.join("", this.elements.subList(from, to)));
		}

		/**
		 * Some elements as the end of a property's name; those of a variable count as
		 * one.
		 */
		String shown(int from, int to) {
			StringBuilder text = new StringBuilder();
			List<String> some = this.elements.subList(from, to);
			for (String element : this.variable ? List.of(String.join("-", some)) : some) {
				boolean plain = PLAIN.matcher(element).matches() && !INDEX.matcher(element).matches();
				text.append(plain ? "." + element : "[" + element + "]");
			}
			return text.toString();
		}

	}

}
