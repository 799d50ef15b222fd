package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RequestIdsTests {

	private static final String TRACE_PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

	private static final ClientIp TRUSTING = new ClientIp(ClientIpTests.options(0));

	private final TestCall call = TestCall.from("192.0.2.1");

	@Test
	void callWithoutEitherHasNone() {
		assertThat(id(this.call, TRUSTING)).isNull();
	}

	@Test
	void idOfTheRequestIsTaken() {
		TestCall call = this.call.header("X-Request-Id", "8a6e0804-2bd0-4672-b79d-d97027f9071a")
			.header("traceparent", TRACE_PARENT);
		assertThat(id(call, TRUSTING)).isEqualTo("8a6e0804-2bd0-4672-b79d-d97027f9071a");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "ann@example.org", "203.0.113.7", "2001:db8::1", "a b", "<script>",
			"12345678901234567890123456789012345678901234567890123456789012345" })
	void whatDoesNotLookLikeAnIdGivesWayToTheTrace(String id) {
		TestCall call = this.call.header("X-Request-Id", id).header("traceparent", TRACE_PARENT);
		assertThat(id(call, TRUSTING)).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
	}

	@Test
	void idOfACallerThatIsNoTrustedProxyGivesWayToTheTrace() {
		TestCall call = this.call.header("X-Request-Id", "4711").header("traceparent", TRACE_PARENT);
		assertThat(id(call, new ClientIp(ClientIpTests.options(0, "10.0.0.0/8"))))
			.isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
	}

	@Test
	void oneOfSeveralIdsIsNone() {
		assertThat(id(this.call.header("X-Request-Id", "one", "two"), TRUSTING)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "00-4bf92f35-00f067aa0ba902b7-01",
			"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01" })
	void traceThatIsNoneIsLeftOut(String trace) {
		assertThat(id(this.call.header("traceparent", trace), TRUSTING)).isNull();
	}

	@Test
	void idOfTheTraceIsTaken() {
		TestCall call = this.call.header("traceparent", TRACE_PARENT);
		assertThat(RequestIds.of(call, TRUSTING).traceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
	}

	@Test
	void callWithoutTheHeaderHasNone() {
		assertThat(RequestIds.of(this.call, TRUSTING).traceId()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736", "00-ann@example.org-00f067aa0ba902b7-01",
			"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
			"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01" })
	void whatIsNoIdIsNotTaken(String header) {
		assertThat(RequestIds.traceId(header)).isNull();
	}

	private static @Nullable String id(TestCall call, ClientIp clientIp) {
		return RequestIds.of(call, clientIp).id();
	}

}
