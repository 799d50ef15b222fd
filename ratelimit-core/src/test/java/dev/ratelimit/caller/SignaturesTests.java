package dev.ratelimit.caller;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SignaturesTests {

	private static final Duration ROTATE = Duration.ofHours(1);

	private static final byte[] MESSAGE = "forty permits".getBytes(StandardCharsets.UTF_8);

	/** The beginning of an epoch. */
	private static final long BEGIN = 480_000 * ROTATE.toMillis();

	private final AtomicLong millis = new AtomicLong(BEGIN);

	private final Salt salt = Salt.of("correct horse battery");

	private final Signatures signatures = signatures(this.salt, "lease");

	private Signatures signatures(Salt salt, String purpose) {
		return new Signatures(new Epochs(salt, ROTATE, this.millis::get), purpose);
	}

	@Test
	void signatureIsTheHmacUnderAKeyOfEpochAndPurpose() throws Exception {
		byte[] label = HexFormat.of().parseHex("00000001" + "006c" + "0000000000075300");
		byte[] key = hmac("correct horse battery".getBytes(StandardCharsets.UTF_8), label);
		assertThat(signatures(this.salt, "l").sign(BEGIN, MESSAGE)).isEqualTo(hmac(key, MESSAGE))
			.hasSize(Signatures.BYTES);
	}

	@Test
	void everyInstanceWithTheSaltVerifies() {
		byte[] signature = this.signatures.sign(BEGIN, MESSAGE);
		assertThat(signatures(Salt.of("correct horse battery"), "lease").verify(BEGIN, MESSAGE, signature)).isTrue();
		assertThat(signatures(Salt.of("another salt"), "lease").verify(BEGIN, MESSAGE, signature)).isFalse();
		assertThat(signatures(this.salt, "other").verify(BEGIN, MESSAGE, signature)).isFalse();
	}

	@Test
	void everyBitOfMessageAndSignatureCounts() {
		byte[] signature = this.signatures.sign(BEGIN, MESSAGE);
		for (int bit = 0; bit < 8 * signature.length; bit++) {
			assertThat(this.signatures.verify(BEGIN, MESSAGE, flipped(signature, bit))).isFalse();
		}
		for (int bit = 0; bit < 8 * MESSAGE.length; bit++) {
			assertThat(this.signatures.verify(BEGIN, flipped(MESSAGE, bit), signature)).isFalse();
		}
		assertThat(this.signatures.verify(BEGIN, MESSAGE, new byte[0])).isFalse();
	}

	@Test
	void previousEpochIsAcceptedAndOlderOnesAreNot() {
		long last = BEGIN - 1;
		this.millis.set(last);
		byte[] signature = this.signatures.sign(last, MESSAGE);
		this.millis.set(BEGIN + ROTATE.toMillis() - 1);
		assertThat(this.signatures.verify(last, MESSAGE, signature)).isTrue();
		this.millis.set(BEGIN + ROTATE.toMillis());
		assertThat(this.signatures.verify(last, MESSAGE, signature)).isFalse();
	}

	@Test
	void keyOfAnEpochIsNotThatOfAnother() {
		assertThat(this.signatures.sign(BEGIN - 1, MESSAGE)).isNotEqualTo(this.signatures.sign(BEGIN, MESSAGE));
		assertThat(this.signatures.verify(BEGIN - 1, MESSAGE, this.signatures.sign(BEGIN, MESSAGE))).isFalse();
	}

	@Test
	void clockOfTheSignerMayBeAMinuteAheadInTheNextEpoch() {
		long ahead = BEGIN + 30_000;
		byte[] signature = this.signatures.sign(ahead, MESSAGE);
		this.millis.set(ahead - Epochs.TOLERANCE.toMillis());
		assertThat(this.signatures.verify(ahead, MESSAGE, signature)).isTrue();
		this.millis.decrementAndGet();
		assertThat(this.signatures.verify(ahead, MESSAGE, signature)).isFalse();
	}

	@Test
	void newSaltHasNewKeys() {
		byte[] signature = this.signatures.sign(BEGIN, MESSAGE);
		this.salt.become("another salt");
		assertThat(this.signatures.verify(BEGIN, MESSAGE, signature)).isFalse();
	}

	@Test
	void purposeIsNeeded() {
		assertThatIllegalArgumentException().isThrownBy(() -> signatures(this.salt, ""));
	}

	private static byte[] flipped(byte[] bytes, int bit) {
		byte[] flipped = bytes.clone();
		flipped[bit / 8] ^= (byte) (1 << bit % 8);
		return flipped;
	}

	private static byte[] hmac(byte[] key, byte[] message) throws Exception {
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(new SecretKeySpec(key, "HmacSHA256"));
		return mac.doFinal(message);
	}

}
