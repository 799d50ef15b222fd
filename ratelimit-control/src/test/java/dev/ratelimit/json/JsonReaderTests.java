package dev.ratelimit.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class JsonReaderTests {

	@Test
	void everyKindOfValueIsRead() {
		Map<String, Object> expected = new LinkedHashMap<>();
		expected.put("text", "a\"\\/\b\f\n\r\tä\u20ac");
		expected.put("int", -7);
		expected.put("long", 9_000_000_000L);
		expected.put("double", 1.5e3);
		expected.put("list", Arrays.asList(true, false, null, List.of(), Map.of()));
		assertThat(JsonReader.object(
				" {\"text\": \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\u20ac\", \"int\":-7,\"long\": 9000000000,\r\n\t\"double\":"
						+ " 1.5E+3, \"list\": [true, false, null, [ ], { }]} \n"))
			.isEqualTo(expected);
	}

	@Test
	void whatIsWrittenIsReadAgain() {
		Map<String, Object> document = new LinkedHashMap<>();
		document.put("a<b", List.of("\u2028\u0000\ud83d\ude00", 0, -1, 12345678901L, 0.25));
		document.put("c", Map.of("d", Map.of()));
		assertThat(JsonReader.object(Json.write(document))).isEqualTo(document);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = {
			"{} x | line 1, column 4: there is something behind the end",
			"{}{} | line 1, column 3: there is something behind",
			"[] | line 1, column 1: an object has to begin with {",
			"{\"a\": 1, \"a\": 2} | line 1, column 10: field 'a' is there twice",
			"{\"a\": {\"b\": 1, \"b\": 1}} | field 'b' is there twice", "{\"a\": 1,} | column 9: the name of a field",
			"{\"a\": [1,]} | column 10: there is no value here", "{\"a\" 1} | column 6: a colon is missing",
			"{\"a\": 1 \"b\": 2} | column 9: a comma or } is missing", "{\"a\": [1 2]} | a comma or ] is missing",
			"{a: 1} | has to be in double quotes", "{'a': 1} | has to be in double quotes",
			"{\"a\": 'b'} | there is no value here", "{\"a\": tru} | there is no value here",
			"{\"a\": NaN} | there is no value here", "{\"a\": 01} | there is no value here",
			"{\"a\": +1} | there is no value here", "{\"a\": .5} | there is no value here",
			"{\"a\": 1.} | no digits behind its point", "{\"a\": 1e} | no digits in its exponent",
			"{\"a\": 1e999} | a number is too large", "{\"a\": \"\\x\"} | there is no such escape",
			"{\"a\": \"\\u12g4\"} | needs four hexadecimal digits", "{\"a\": \"b | a text does not end",
			"{\"a\": | it ends too early", "{\"a\": 1 | it ends too early", "{ | it ends too early",
			"{/* c */} | has to be in double quotes" })
	void whatIsNotJsonIsToldWithItsPlace(String text, String problem) {
		assertThatExceptionOfType(JsonReader.JsonException.class).isThrownBy(() -> JsonReader.object(text))
			.withMessageContaining(problem);
	}

	@Test
	void placeIsCountedInLines() {
		assertThatExceptionOfType(JsonReader.JsonException.class)
			.isThrownBy(() -> JsonReader.object("{\n  \"mode\": \"allow\",\n  \"for\" \"1h\"\n}"))
			.withMessage("line 3, column 9: a colon is missing behind the name of a field");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "\ufeff{}", "{\"a\": \"\n\"}", "{\"a\": \"\u0000\"}", "{\u0000}" })
	void whatCannotBeSeenIsNoJsonEither(String text) {
		assertThatExceptionOfType(JsonReader.JsonException.class).isThrownBy(() -> JsonReader.object(text));
	}

	@Test
	void depthAndSizeAreBounded() {
		String deep = "{\"a\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";
		assertThatExceptionOfType(JsonReader.JsonException.class).isThrownBy(() -> JsonReader.object(deep))
			.withMessageEndingWith("nested more than 32 levels deep");
		String large = "{\"a\":\"" + "x".repeat(1024 * 1024) + "\"}";
		assertThatExceptionOfType(JsonReader.JsonException.class).isThrownBy(() -> JsonReader.object(large))
			.withMessageContaining("longer than 1048576 characters");
	}

	@Test
	void bytesHaveToBeUtf8() {
		assertThatExceptionOfType(JsonReader.JsonException.class)
			.isThrownBy(() -> JsonReader.object("{\"a\": \"ä\"}".getBytes(StandardCharsets.ISO_8859_1)))
			.withMessage("it is not UTF-8");
	}

}
