package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotKey;
import dev.ratelimit.counter.HotMark;

import static org.assertj.core.api.Assertions.assertThat;

class HotTextsTests {

	private static final CounterName NAME = new CounterName("rl:1g:{abc}def", "orders", "per-tenant", -42);

	@Test
	void rateIsReadAsItWasWritten() {
		assertThat(HotTexts.decode(List.of(bytes(HotTexts.encode(NAME)), bytes("12000")), HotKey::new))
			.containsExactly(new HotKey(NAME, 12_000));
	}

	@Test
	void markIsReadAsItWasWritten() {
		HotMark mark = new HotMark(NAME, Duration.ofSeconds(90), "ann", "launch day, part 2", 8);
		assertThat(HotTexts.decodeMarks(List.of(90_000L, bytes(NAME.key()), bytes(HotTexts.encode(mark)))))
			.containsExactly(mark);
	}

	@Test
	void partOfAMarkThatALaterVersionWritesIsLeftOut() {
		HotMark mark = new HotMark(NAME, Duration.ofSeconds(90), "ann", "");
		assertThat(HotTexts.decodeMarks(
				List.of(90_000L, bytes(NAME.key()), bytes(HotTexts.encode(mark) + "\nlater 8\nwhatever\nsplit many"))))
			.containsExactly(mark);
	}

	@Test
	void whatMakesNoSenseIsNoEntry() {
		List<byte[]> rates = List.of(bytes("one two"), bytes("1"), bytes("a b c d"), bytes("2"));
		assertThat(HotTexts.decode(rates, HotKey::new)).isEmpty();
		assertThat(HotTexts.decodeMarks(List.of(1L, bytes("key"), bytes("nothing")))).isEmpty();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
