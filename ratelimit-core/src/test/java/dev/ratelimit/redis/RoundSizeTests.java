package dev.ratelimit.redis;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RoundSizeTests {

	private static final long TIMEOUT = 20;

	private final RoundSize size = new RoundSize();

	@Test
	void roundIsOneCallAtFirst() {
		assertThat(this.size.work()).isEqualTo(RoundSize.LEAST);
	}

	@Test
	void fullRoundsThatAreAnsweredSoonMakeItLargerUpToABound() {
		grow();
		assertThat(this.size.work()).isEqualTo(RoundSize.MOST);
	}

	@Test
	void roundThatWasNotFullSaysNothingAboutLargerOnes() {
		this.size.answered(RoundSize.LEAST - 1, 1, TIMEOUT);
		assertThat(this.size.work()).isEqualTo(RoundSize.LEAST);
	}

	@Test
	void roundThatTookMoreThanHalfOfTheTimeHalvesIt() {
		grow();
		this.size.answered(10, 8, TIMEOUT);
		assertThat(this.size.work()).isEqualTo(RoundSize.MOST);
		this.size.answered(10, 11, TIMEOUT);
		assertThat(this.size.work()).isEqualTo(RoundSize.MOST / 2);
		for (int i = 0; i < 10; i++) {
			this.size.answered(10, 11, TIMEOUT);
		}
		assertThat(this.size.work()).isEqualTo(RoundSize.LEAST);
	}

	@Test
	void roundWithoutAnAnswerMakesItOneCall() {
		grow();
		this.size.lost();
		assertThat(this.size.work()).isEqualTo(RoundSize.LEAST);
	}

	private void grow() {
		for (int i = 0; i < 10; i++) {
			this.size.answered(this.size.work(), 4, TIMEOUT);
		}
	}

}
