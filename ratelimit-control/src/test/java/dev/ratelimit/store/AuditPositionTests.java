package dev.ratelimit.store;

import java.time.DateTimeException;
import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AuditPositionTests {

	private static final Instant TIME = Instant.parse("2026-11-16T08:00:00.123456Z");

	@Test
	void textIsReadAsItWasWritten() {
		AuditPosition position = new AuditPosition(TIME, 42);
		assertThat(position.text()).isEqualTo("2026-11-16T08:00:00.123456Z-42");
		assertThat(AuditPosition.parse(position.text())).isEqualTo(position);
	}

	@Test
	void timeAloneIsBeforeAllEntriesOfThatTime() {
		assertThat(AuditPosition.parse("2026-11-16T08:00:00.123456Z")).isEqualTo(new AuditPosition(TIME, 0))
			.isLessThan(new AuditPosition(TIME, 1));
	}

	@Test
	void sequenceOnlyDecidesAmongEntriesOfTheSameTime() {
		assertThat(new AuditPosition(TIME, 9)).isLessThan(new AuditPosition(TIME.plusNanos(1_000), 1));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "yesterday", "2026-11-16T08:00:00Z-", "2026-11-16T08:00:00Z--1",
			"2026-11-16T08:00:00Z-1234567890123456789", "2026-11-16T08:00:00Z-1-1", "1969-12-31T23:59:59Z",
			"+10000-01-01T00:00:00Z" })
	void whatIsNoPlaceInTheTrailIsRefused(String text) {
		assertThatExceptionOfType(DateTimeException.class).isThrownBy(() -> AuditPosition.parse(text));
	}

}
