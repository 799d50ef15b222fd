package dev.ratelimit.background;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HandoffTests {

	private final Handoff<String> handoff = new Handoff<>(2);

	@Test
	void takesWhatWasOfferedInItsOrder() {
		this.handoff.offer("a");
		this.handoff.offer("b");
		assertThat(this.handoff.take()).containsExactly("a", "b");
		assertThat(this.handoff.take()).isEmpty();
	}

	@Test
	void takesNothingThatFindsNoRoom() {
		this.handoff.offer("a");
		assertThat(this.handoff.offer("b")).isTrue();
		assertThat(this.handoff.offer("c")).isFalse();
		assertThat(this.handoff.take()).containsExactly("a", "b");
	}

	@Test
	void takingMakesRoom() {
		this.handoff.offer("a");
		this.handoff.offer("b");
		this.handoff.take();
		assertThat(this.handoff.offer("c")).isTrue();
		assertThat(this.handoff.offer("d")).isTrue();
		assertThat(this.handoff.offer("e")).isFalse();
	}

}
