package dev.ratelimit.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class JsonTests {

	private final ObjectMapper jackson = new ObjectMapper();

	@Test
	void valuesAreWrittenInTheirOrder() {
		Map<String, Object> map = new LinkedHashMap<>();
		map.put("text", "a");
		map.put("number", 42L);
		map.put("fraction", 1.5);
		map.put("flag", true);
		map.put("nothing", null);
		map.put("list", Arrays.asList("x", 1, null, List.of(), Map.of()));
		assertThat(Json.write(map)).isEqualTo(
				"{\"text\":\"a\",\"number\":42,\"fraction\":1.5,\"flag\":true,\"nothing\":null,\"list\":[\"x\",1,null,[],{}]}");
	}

	@Test
	void textIsEscaped() {
		assertThat(Json.write("\"\\/\b\f\n\r\t\0\u001f\u007f</script>\u2028é😀"))
			.isEqualTo("\"\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009\\u0000\\u001f\\u007f"
					+ "\\u003c/script\\u003e\\u2028é😀\"");
	}

	@Test
	void halfASurrogatePairIsEscaped() {
		assertThat(Json.write("a\ud83d")).isEqualTo("\"a\\ud83d\"");
		assertThat(Json.write("\ude00b\ud83d\ud83d\ude00")).isEqualTo("\"\\ude00b\\ud83d😀\"");
	}

	@Test
	void whatIsNoNumberIsNull() {
		assertThat(Json.write(List.of(Double.NaN, Double.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY)))
			.isEqualTo("[null,null,null]");
	}

	@Test
	void anythingElseIsItsText() {
		assertThat(Json.write(new StringBuilder("a\"b"))).isEqualTo("\"a\\\"b\"");
		assertThat(Json.write(Map.of(1, 'c'))).isEqualTo("{\"1\":\"c\"}");
	}

	@Test
	void whatContainsItselfIsRefused() {
		List<Object> list = new ArrayList<>();
		list.add(list);
		assertThatIllegalArgumentException().isThrownBy(() -> Json.write(list)).withMessageContaining("32 levels");
	}

	@Test
	void anyTextIsReadBackAsItWas() throws JsonProcessingException {
		Random random = new Random(42);
		for (int i = 0; i < 1_000; i++) {
			String text = random.ints(random.nextInt(40), 0, (i % 2 == 0) ? 0x80 : 0x10000)
				.collect(StringBuilder::new, (out, c) -> out.append((char) c), StringBuilder::append)
				.toString();
			String json = Json.write(Map.of(text, text));
			assertThat(this.jackson.readTree(json).get(text).textValue()).isEqualTo(text);
			assertThat(json.chars()).noneMatch((c) -> c < ' ');
			assertThat(new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)).isEqualTo(json);
		}
	}

}
