package dev.ratelimit.json;

import java.util.Collection;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Writes maps, lists, texts, numbers and booleans as JSON. Anything else becomes its
 * text. There is no JSON library that every application has.
 */
public final class Json {

	/** A deeper value probably contains itself. */
	private static final int MAX_DEPTH = 32;

	private final StringBuilder out = new StringBuilder(512);

	private Json() {
	}

	/**
	 * Writes a value; fails if it is nested more than 32 levels deep.
	 */
	public static String write(@Nullable Object value) {
		Json json = new Json();
		json.value(value, 0);
		return json.out.toString();
	}

	private void value(@Nullable Object value, int depth) {
		if (depth > MAX_DEPTH) {
			throw new IllegalArgumentException("nested more than " + MAX_DEPTH + " levels deep");
		}
		if (value == null || isNoNumber(value)) {
			this.out.append("null");
		}
		else if (value instanceof Boolean || value instanceof Number) {
			this.out.append(value);
		}
		else if (value instanceof Map<?, ?> map) {
			object(map, depth);
		}
		else if (value instanceof Collection<?> elements) {
			array(elements, depth);
		}
		else {
			string(value.toString());
		}
	}

	/** JSON has neither infinity nor NaN. */
	private static boolean isNoNumber(Object value) {
		return (value instanceof Double || value instanceof Float) && !Double.isFinite(((Number) value).doubleValue());
	}

	private void object(Map<?, ?> map, int depth) {
		String separator = "{";
		for (Map.Entry<?, ?> entry : map.entrySet()) {
			this.out.append(separator);
			string(String.valueOf(entry.getKey()));
			this.out.append(':');
			value(entry.getValue(), depth + 1);
			separator = ",";
		}
		this.out.append(map.isEmpty() ? "{}" : "}");
	}

	private void array(Collection<?> elements, int depth) {
		String separator = "[";
		for (Object element : elements) {
			this.out.append(separator);
			value(element, depth + 1);
			separator = ",";
		}
		this.out.append(elements.isEmpty() ? "[]" : "]");
	}

	/**
	 * Escapes control characters, what would end a line or a tag in some reader, and what
	 * UTF-8 cannot write.
	 */
	private void string(String text) {
		this.out.append('"');
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == '"' || c == '\\') {
				this.out.append('\\').append(c);
			}
			else if (Character.isHighSurrogate(c) && i + 1 < text.length()
					&& Character.isLowSurrogate(text.charAt(i + 1))) {
				this.out.append(c).append(text.charAt(++i));
			}
			else if (c < ' ' || c == '<' || c == '>' || (c >= 0x7f && c <= 0x9f) || c == '\u2028' || c == '\u2029'
					|| Character.isSurrogate(c)) {
				this.out.append(String.format("\\u%04x", (int) c));
			}
			else {
				this.out.append(c);
			}
		}
		this.out.append('"');
	}

}
