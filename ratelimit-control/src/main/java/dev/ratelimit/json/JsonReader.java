package dev.ratelimit.json;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.PrintableText;

/**
 * Reads JSON strictly as RFC 8259 defines it, so that a text means the same whichever
 * parser an application has. A repeated field, text after the end, and excessive nesting
 * or length are errors. Objects become maps in their order, whole numbers an
 * {@link Integer} or a {@link Long}, other numbers a {@link Double}.
 */
public final class JsonReader {

	private static final int MAX_DEPTH = 32;

	/** A policy and the version before it, each of the largest accepted body. */
	private static final int MAX_LENGTH = 1024 * 1024;

	private final String text;

	private int at;

	private JsonReader(String text) {
		this.text = text;
	}

	/**
	 * Reads an object from UTF-8.
	 */
	public static Map<String, Object> object(byte[] bytes) {
		try {
			return object(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
		}
		catch (CharacterCodingException ex) {
			throw new JsonException("it is not UTF-8");
		}
	}

	/**
	 * Reads an object.
	 * @throws JsonException with line and column
	 */
	@SuppressWarnings("unchecked")
	public static Map<String, Object> object(String text) {
		if (text.length() > MAX_LENGTH) {
			throw new JsonException("it is longer than " + MAX_LENGTH + " characters");
		}
		JsonReader reader = new JsonReader(text);
		reader.skipSpace();
		if (reader.peek() != '{') {
			throw reader.wrong("an object has to begin with {");
		}
		Map<String, ?> fields = reader.fields(0);
		reader.skipSpace();
		if (!reader.isAtEnd()) {
			throw reader.wrong("there is something behind the end of the object");
		}
		return (Map<String, Object>) fields;
	}

	private @Nullable Object value(int depth) {
		if (depth > MAX_DEPTH) {
			throw wrong("it is nested more than " + MAX_DEPTH + " levels deep");
		}
		return switch (peek()) {
			case '{' -> fields(depth);
			case '[' -> elements(depth);
			case '"' -> string();
			case 't' -> word("true", true);
			case 'f' -> word("false", false);
			case 'n' -> word("null", null);
			default -> number();
		};
	}

	private Map<String, @Nullable Object> fields(int depth) {
		Map<String, @Nullable Object> fields = new LinkedHashMap<>();
		this.at++;
		skipSpace();
		while (peek() != '}') {
			if (!fields.isEmpty()) {
				expect(',', "a comma or } is missing");
				skipSpace();
			}
			int start = this.at;
			if (peek() != '"') {
				throw wrong(isAtEnd() ? "it ends too early" : "the name of a field has to be in double quotes");
			}
			String name = string();
			skipSpace();
			expect(':', "a colon is missing behind the name of a field");
			skipSpace();
			if (fields.containsKey(name)) {
				this.at = start;
				throw wrong("field '" + PrintableText.of(name) + "' is there twice");
			}
			fields.put(name, value(depth + 1));
			skipSpace();
		}
		this.at++;
		return fields;
	}

	private List<@Nullable Object> elements(int depth) {
		List<@Nullable Object> elements = new ArrayList<>();
		this.at++;
		skipSpace();
		while (peek() != ']') {
			if (!elements.isEmpty()) {
				expect(',', "a comma or ] is missing");
				skipSpace();
			}
			elements.add(value(depth + 1));
			skipSpace();
		}
		this.at++;
		return elements;
	}

	private @Nullable Object word(String word, @Nullable Object value) {
		if (!this.text.startsWith(word, this.at)) {
			throw noValue();
		}
		this.at += word.length();
		return value;
	}

	private String string() {
		int start = ++this.at;
		while (peek() != '"' && peek() != '\\') {
			plain();
		}
		if (peek() == '"') {
			return this.text.substring(start, this.at++);
		}
		StringBuilder string = new StringBuilder(this.text.substring(start, this.at));
		while (peek() != '"') {
			string.append((peek() == '\\') ? escaped() : plain());
		}
		this.at++;
		return string.toString();
	}

	private char plain() {
		char c = peek();
		if (isAtEnd()) {
			throw wrong("a text does not end");
		}
		if (c < ' ') {
			throw wrong("a control character in a text has to be escaped");
		}
		this.at++;
		return c;
	}

	private char escaped() {
		this.at++;
		char c = peek();
		int plain = "\"\\/bfnrt".indexOf(c);
		if (plain >= 0) {
			this.at++;
			return "\"\\/\b\f\n\r\t".charAt(plain);
		}
		if (c != 'u') {
			throw wrong("there is no such escape in a text");
		}
		int value = 0;
		for (int i = 1; i <= 4; i++) {
			char hex = (this.at + i < this.text.length()) ? this.text.charAt(this.at + i) : ' ';
			int digit = (hex < 128) ? Character.digit(hex, 16) : -1;
			if (digit < 0) {
				throw wrong("\\u needs four hexadecimal digits");
			}
			value = value * 16 + digit;
		}
		this.at += 5;
		return (char) value;
	}

	private Number number() {
		int start = this.at;
		skip('-');
		int first = this.at;
		boolean whole = digits() && (this.text.charAt(first) != '0' || this.at == first + 1);
		if (!whole) {
			this.at = start;
			throw noValue();
		}
		boolean fraction = skip('.');
		if (fraction && !digits()) {
			throw wrong("a number has no digits behind its point");
		}
		boolean exponent = skip('e') || skip('E');
		if (exponent && !skip('+')) {
			skip('-');
		}
		if (exponent && !digits()) {
			throw wrong("a number has no digits in its exponent");
		}
		String number = this.text.substring(start, this.at);
		if (!fraction && !exponent && number.length() < 19) {
			long value = Long.parseLong(number);
			if (value == (int) value) {
				return (int) value;
			}
			return value;
		}
		double value = Double.parseDouble(number);
		if (Double.isInfinite(value)) {
			throw wrong("a number is too large");
		}
		return value;
	}

	private boolean digits() {
		int start = this.at;
		while (peek() >= '0' && peek() <= '9') {
			this.at++;
		}
		return this.at > start;
	}

	private boolean skip(char c) {
		boolean there = peek() == c;
		this.at += there ? 1 : 0;
		return there;
	}

	private void skipSpace() {
		while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') {
			this.at++;
		}
	}

	private void expect(char c, String problem) {
		if (peek() != c) {
			throw wrong(isAtEnd() ? "it ends too early" : problem);
		}
		this.at++;
	}

	/** The next character; 0, which JSON never contains, at the end. */
	private char peek() {
		return (this.at < this.text.length()) ? this.text.charAt(this.at) : 0;
	}

	private boolean isAtEnd() {
		return this.at == this.text.length();
	}

	private JsonException noValue() {
		return wrong(isAtEnd() ? "it ends too early" : "there is no value here");
	}

	private JsonException wrong(String problem) {
		int line = 1;
		int start = 0;
		for (int i = 0; i < this.at; i++) {
			if (this.text.charAt(i) == '\n') {
				line++;
				start = i + 1;
			}
		}
		return new JsonException("line " + line + ", column " + (this.at - start + 1) + ": " + problem);
	}

	/** A text is not a JSON object. */
	public static final class JsonException extends IllegalArgumentException {

		JsonException(String message) {
			super(message);
		}

	}

}
