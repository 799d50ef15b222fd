package dev.ratelimit.web.reactive;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class QueuedRequestsTests {

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "1.2.18", "1.2.19", "1.3.0", "1.3.7", "unreadable" })
	void versionsWithoutTheFixNeedIt(String version) {
		assertThat(QueuedRequests.neededBy(version)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "1.3.8", "1.3.8-SNAPSHOT", "1.3.10", "1.4.0-M1", "2.0.0" })
	void versionsWithTheFixDoNot(String version) {
		assertThat(QueuedRequests.neededBy(version)).isFalse();
	}

}
