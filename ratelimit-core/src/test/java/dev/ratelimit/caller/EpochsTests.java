package dev.ratelimit.caller;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class EpochsTests {

	private static final Duration ROTATE = Duration.ofDays(90);

	private static final String ADDRESS = "198.51.100.7";

	private final AtomicLong millis = new AtomicLong(230 * ROTATE.toMillis());

	private final Salt salt = Salt.of("correct horse battery");

	private final Epochs epochs = new Epochs(this.salt, ROTATE, this.millis::get);

	@Test
	void textIs24PrintableCharactersWhateverTheValue() {
		for (String value : List.of("", ADDRESS, "x".repeat(65_536), "\0\n\uD800", "ä")) {
			assertThat(this.epochs.of(Dimension.USER, value)).matches("[A-Za-z0-9_-]{24}");
		}
	}

	@Test
	void textIsTheHmacUnderTheKeyOfTheEpoch() throws Exception {
		byte[] number = HexFormat.of().parseHex("00000000000000e6");
		byte[] key = hmac("correct horse battery".getBytes(StandardCharsets.UTF_8), number);
		byte[] message = HexFormat.of().parseHex("0000000200690070" + "000000010037");
		assertThat(this.epochs.of(Dimension.IP, "7"))
			.isEqualTo(Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hmac(key, message), 18)));
	}

	@Test
	void textIsTheSameInEveryInstance() {
		Epochs other = new Epochs(Salt.of("correct horse battery"), ROTATE, this.millis::get);
		assertThat(other.of(Dimension.IP, ADDRESS)).isEqualTo(this.epochs.of(Dimension.IP, ADDRESS));
	}

	@Test
	void eachDimensionAndEachSaltHasTextsOfItsOwn() {
		String text = this.epochs.of(Dimension.IP, ADDRESS);
		assertThat(this.epochs.of(Dimension.USER, ADDRESS)).isNotEqualTo(text);
		assertThat(new Epochs(Salt.random(), ROTATE, this.millis::get).of(Dimension.IP, ADDRESS)).isNotEqualTo(text);
	}

	@Test
	void textChangesAtTheTurnAndTheOldOneIsStillKnown() {
		this.millis.addAndGet(ROTATE.toMillis() - 1);
		String before = this.epochs.of(Dimension.IP, ADDRESS);
		this.millis.incrementAndGet();
		String after = this.epochs.of(Dimension.IP, ADDRESS);
		assertThat(after).isNotEqualTo(before);
		assertThat(this.epochs.known(Dimension.IP, ADDRESS)).containsExactly(after, before);
	}

	@Test
	void clockThatIsSetBackBringsTheOldTextBack() {
		String before = this.epochs.of(Dimension.IP, ADDRESS);
		this.millis.addAndGet(ROTATE.toMillis());
		assertThat(this.epochs.of(Dimension.IP, ADDRESS)).isNotEqualTo(before);
		this.millis.addAndGet(-ROTATE.toMillis());
		assertThat(this.epochs.of(Dimension.IP, ADDRESS)).isEqualTo(before);
	}

	@Test
	void anotherSaltHoldsAtOnce() {
		this.salt.become("another");
		assertThat(this.epochs.of(Dimension.IP, ADDRESS))
			.isEqualTo(new Epochs(Salt.of("another"), ROTATE, this.millis::get).of(Dimension.IP, ADDRESS));
	}

	@Test
	void lessThanAnHourIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Epochs(this.salt, Duration.ofMinutes(59), this.millis::get))
			.withMessage("hashes must rotate after at least 1 hour but rotate after PT59M");
	}

	@Test
	void saltIsNeverShown() {
		assertThat(this.salt).hasToString("salt");
		assertThat(new Epoch("correct horse battery", 1)).hasToString("epoch 1");
		assertThat(Salt.random().text()).hasSize(43).isNotEqualTo(Salt.random().text());
	}

	private static byte[] hmac(byte[] key, byte[] message) throws Exception {
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(new SecretKeySpec(key, "HmacSHA256"));
		return mac.doFinal(message);
	}

}
