package dev.ratelimit.web;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TraceParentTests {

	private static final String ID = "4bf92f3577b34da6a3ce929d0e0e4736";

	@Test
	void idOfTheTraceIsTaken() {
		WebCall call = TestCall.from("203.0.113.7").header("traceparent", "00-" + ID + "-00f067aa0ba902b7-01");
		assertThat(call.traceId()).isEqualTo(ID);
	}

	@Test
	void callWithoutTheHeaderHasNone() {
		assertThat(TestCall.from("203.0.113.7").traceId()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736", "00-ann@example.org-00f067aa0ba902b7-01",
			"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
			"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01" })
	void whatIsNoIdIsNotTaken(String header) {
		assertThat(TraceParent.traceId(header)).isNull();
	}

}
