package dev.ratelimit.background;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

class ListenersTests {

	@Test
	void oneThatThrowsDoesNotKeepTheOthers() {
		List<String> called = new ArrayList<>();
		try (CapturedLog log = new CapturedLog(Listeners.class.getName())) {
			Listeners.callAll(List.of("a", "b"), (listener) -> {
				called.add(listener);
				throw new IllegalStateException("broken");
			});
			assertThat(called).containsExactly("a", "b");
			assertThat(log.lines()).hasSize(2);
		}
	}

}
