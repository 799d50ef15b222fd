package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.caller.Salt;
import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotKey;
import dev.ratelimit.hot.HotMark;

import static org.assertj.core.api.Assertions.assertThat;

class HotKeyCodecTests {

	private static final CounterName NAME = new CounterName("rl:3g:{abc}def", "orders", "per-tenant", -42);

	private final HotKeyCodec texts = new HotKeyCodec(new SealedHashes(Salt.of("salt of the tests")));

	@Test
	void rateIsReadAsItWasWritten() {
		assertThat(this.texts.decode(List.of(bytes(this.texts.encode(NAME)), bytes("12000")), HotKey::new))
			.containsExactly(new HotKey(NAME, 12_000));
	}

	@Test
	void markIsReadAsItWasWritten() {
		HotMark mark = new HotMark(NAME, Duration.ofSeconds(90), "ann", "launch day, part 2", 8);
		assertThat(this.texts.decodeMarks(List.of(90_000L, bytes(NAME.key()), bytes(this.texts.encode(mark)))))
			.containsExactly(mark);
	}

	@Test
	void partOfAMarkThatALaterVersionWritesIsLeftOut() {
		HotMark mark = new HotMark(NAME, Duration.ofSeconds(90), "ann", "");
		assertThat(this.texts.decodeMarks(List.of(90_000L, bytes(NAME.key()),
				bytes(this.texts.encode(mark) + "\nlater 8\nwhatever\nsplit many"))))
			.containsExactly(mark);
	}

	@Test
	void hashIsNotWrittenAsItIs() {
		assertThat(this.texts.encode(NAME)).startsWith("rl:3g:{abc}def orders per-tenant ").doesNotEndWith(" -42");
	}

	@Test
	void whatMakesNoSenseIsNoEntry() {
		List<byte[]> rates = List.of(bytes("one two"), bytes("1"), bytes("a b c d"), bytes("2"));
		assertThat(this.texts.decode(rates, HotKey::new)).isEmpty();
		assertThat(this.texts.decodeMarks(List.of(1L, bytes("key"), bytes("nothing")))).isEmpty();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
