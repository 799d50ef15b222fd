package dev.ratelimit.web.servlet;

import java.net.InetAddress;

import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.servlet.HandlerMapping;

import dev.ratelimit.web.WebCall;

import static org.assertj.core.api.Assertions.assertThat;

class ServletWebCallTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders//17;x=1/%2e");

	private final WebCall call = ServletWebCall.of(this.request);

	@Test
	void pathIsAsItWasSent() {
		assertThat(this.call.rawPath()).isEqualTo("/orders//17;x=1/%2e");
	}

	@Test
	void routeIsTheTemplateAndNeverThePath() {
		assertThat(this.call.route()).isNull();
		this.request.setAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE, "/orders/{id}");
		assertThat(this.call.route()).isEqualTo("/orders/{id}");
	}

	@Test
	void headersHaveAllTheirValues() {
		this.request.addHeader("X-Forwarded-For", "203.0.113.7");
		this.request.addHeader("X-Forwarded-For", "203.0.113.8");
		assertThat(this.call.headers("x-forwarded-for")).containsExactly("203.0.113.7", "203.0.113.8");
		assertThat(this.call.headers("absent")).isEmpty();
	}

	@Test
	void addressIsReadFromALiteralOnly() throws Exception {
		this.request.setRemoteAddr("203.0.113.7");
		assertThat(this.call.remoteAddress()).isEqualTo(InetAddress.getByName("203.0.113.7"));
		this.request.setRemoteAddr("fe80:0:0:0:0:0:0:1%eth0");
		assertThat(this.call.remoteAddress()).isEqualTo(InetAddress.getByName("fe80::1"));
		this.request.setRemoteAddr("localhost");
		assertThat(this.call.remoteAddress()).isNull();
	}

	@Test
	void principalIsTheRequests() {
		assertThat(this.call.principal()).isNull();
		this.request.setUserPrincipal(() -> "ann");
		assertThat(this.call.principal()).isNotNull();
	}

}
