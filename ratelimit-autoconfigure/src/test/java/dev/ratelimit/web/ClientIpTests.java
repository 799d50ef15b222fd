package dev.ratelimit.web;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class ClientIpTests {

	private static final String SOCKET = "198.51.100.1";

	@Test
	void withoutTrustedHopsForwardedForIsIgnored() {
		assertThat(ip(0, "203.0.113.7")).isEqualTo(SOCKET);
	}

	@ParameterizedTest
	@CsvSource({ "0, " + SOCKET, "1, 192.0.2.3", "2, 203.0.113.9", "3, 1.1.1.1", "4, " + SOCKET })
	void hopsAreCountedFromTheRight(int hops, String expected) {
		assertThat(ip(hops, "1.1.1.1, 203.0.113.9, 192.0.2.3")).isEqualTo(expected);
	}

	@Test
	void whatACallerPutsInFrontChangesNothing() {
		assertThat(ip(1, "6.6.6.6, 7.7.7.7, 203.0.113.9")).isEqualTo("203.0.113.9");
		assertThat(ip(2, "6.6.6.6, 7.7.7.7, 203.0.113.9, 192.0.2.3")).isEqualTo("203.0.113.9");
	}

	@Test
	void severalLinesAreOneListInTheirOrder() {
		assertThat(ip(1, "1.1.1.1", "2.2.2.2, 3.3.3.3")).isEqualTo("3.3.3.3");
		assertThat(ip(3, "1.1.1.1", "2.2.2.2, 3.3.3.3")).isEqualTo("1.1.1.1");
	}

	@Test
	void emptyElementsAreNoEntries() {
		assertThat(ip(2, "203.0.113.9,, \t,", "", " , 192.0.2.3 ,")).isEqualTo("203.0.113.9");
	}

	@Test
	void withTooFewEntriesItIsTheSocket() {
		assertThat(ip(2, "203.0.113.9")).isEqualTo(SOCKET);
		assertThat(ip(1)).isEqualTo(SOCKET);
		assertThat(ip(Integer.MAX_VALUE, "203.0.113.9")).isEqualTo(SOCKET);
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "example.org", "unknown", "_hidden", "1.2.3", "1.2.3.4.5", "01.2.3.4",
			"1.2.3.4:", "1.2.3.4:123456", "1.2.3.4:8a", "[::1", "::1]", "[1.2.3.4]", "[::1]x", "[::1]:", "[]:80",
			"fe80::1%eth0", "\"1.2.3.4\"", "0x7f.0.0.1", "2130706433", "1.2.3.4\r\nX: y", "\0", ":", "[", "]", "{}" })
	void whatIsNoLiteralIsNotLookedUp(String entry) {
		assertThat(ip(1, entry)).isEqualTo(SOCKET);
	}

	@ParameterizedTest
	@CsvSource({ "203.0.113.9:4711, 203.0.113.9", "[2001:db8::1]:4711, 2001:db8:0:0:0:0:0:1",
			"[2001:DB8::1], 2001:db8:0:0:0:0:0:1", "2001:db8::1, 2001:db8:0:0:0:0:0:1",
			"::ffff:203.0.113.9, 203.0.113.9", "[::ffff:203.0.113.9]:80, 203.0.113.9",
			"::ffff:cb00:7109, 203.0.113.9" })
	void anAddressHasOneSpellingAndNoPort(String entry, String expected) {
		assertThat(ip(1, entry)).isEqualTo(expected);
	}

	@Test
	void mappedSocketAddressIsTheIpv4Address() {
		assertThat(locate(0, TestCall.from("::ffff:203.0.113.9")).ip()).isEqualTo("203.0.113.9");
		assertThat(locate(0, TestCall.from("2001:db8::1")).ip()).isEqualTo("2001:db8:0:0:0:0:0:1");
	}

	@Test
	void withoutASocketThereIsNoAddress() {
		assertThat(locate(0, TestCall.from(SOCKET).withoutAddress()).ip()).isNull();
		assertThat(locate(1, TestCall.from(SOCKET).withoutAddress().header("X-Forwarded-For", "x")).ip()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "unknown", "", ",", "999.1.1.1", "localhost" })
	void theSocketInPlaceOfWhatProxiesShouldTellIsNotVerified(String forwardedFor) {
		Identity caller = locate(1, TestCall.from(SOCKET).header("X-Forwarded-For", forwardedFor));
		assertThat(caller.ip()).isEqualTo(SOCKET);
		assertThat(caller.ipVerified()).isFalse();
		assertThat(locate(1, TestCall.from(SOCKET)).ipVerified()).isFalse();
		assertThat(locate(2, TestCall.from(SOCKET).header("X-Forwarded-For", "203.0.113.9")).ipVerified()).isFalse();
	}

	@Test
	void theSocketWithoutProxiesAndAnEntryOfAProxyAreVerified() {
		assertThat(locate(0, TestCall.from(SOCKET).header("X-Forwarded-For", "unknown")).ipVerified()).isTrue();
		assertThat(locate(1, TestCall.from(SOCKET).header("X-Forwarded-For", "203.0.113.9")).ipVerified()).isTrue();
	}

	@Test
	void hopsAreBelievedOnlyFromATrustedProxy() {
		TestCall call = TestCall.from(SOCKET).header("X-Forwarded-For", "203.0.113.9");
		assertThat(locate(1, call, "10.0.0.0/8", "198.51.100.0/24").ip()).isEqualTo("203.0.113.9");
		Identity direct = locate(1, call, "10.0.0.0/8", "2001:db8::/32");
		assertThat(direct.ip()).isEqualTo(SOCKET);
		assertThat(direct.ipVerified()).isTrue();
		assertThat(locate(1, call.withoutAddress(), "10.0.0.0/8").ip()).isNull();
	}

	@Test
	void callerThatGoesPastTheOuterProxyIsTheOneThatTheInnerProxySaw() {
		TestCall call = TestCall.from(SOCKET).header("X-Forwarded-For", "10.0.0.5, 203.0.113.9");
		Identity caller = locate(2, call, "198.51.100.0/24", "192.0.2.0/24");
		assertThat(caller.ip()).isEqualTo("203.0.113.9");
		assertThat(caller.ipVerified()).isTrue();
		TestCall both = TestCall.from(SOCKET).header("X-Forwarded-For", "203.0.113.9, 192.0.2.1");
		assertThat(locate(2, both, "198.51.100.0/24", "192.0.2.0/24").ip()).isEqualTo("203.0.113.9");
		Identity garbled = locate(2, TestCall.from(SOCKET).header("X-Forwarded-For", "10.0.0.5, unknown"),
				"198.51.100.0/24");
		assertThat(garbled.ip()).isEqualTo(SOCKET);
		assertThat(garbled.ipVerified()).isFalse();
	}

	@Test
	void trustedProxiesAloneDoNotMakeAHeaderAnAddress() {
		TestCall call = TestCall.from(SOCKET).header("X-Forwarded-For", "203.0.113.9");
		assertThat(locate(0, call, "198.51.100.0/24").ip()).isEqualTo(SOCKET);
	}

	@Test
	void aHundredEntriesAreCountedAsWell() {
		String entries = IntStream.range(0, 150).mapToObj((i) -> "10.0.0." + i).collect(Collectors.joining(","));
		assertThat(ip(1, entries)).isEqualTo("10.0.0.149");
		assertThat(ip(150, entries)).isEqualTo("10.0.0.0");
		assertThat(ip(151, entries)).isEqualTo(SOCKET);
	}

	@ParameterizedTest
	@ValueSource(strings = { ",", " ", "a", "a,", "[", ":", "1.2.3.4," })
	void hugeHeadersAreReadInPassing(String part) {
		String huge = part.repeat((1 << 20) / part.length());
		assertTimeoutPreemptively(Duration.ofSeconds(10), () -> ip(3, huge));
		assertThat(ip(1, huge + ", 203.0.113.9")).isEqualTo("203.0.113.9");
	}

	private static String ip(int hops, String... forwardedFor) {
		return locate(hops, TestCall.from(SOCKET).header("X-Forwarded-For", forwardedFor)).ip();
	}

	private static Identity locate(int hops, TestCall call, String... proxies) {
		return new ClientIp(options(hops, proxies)).locate(Identity.NOBODY, call);
	}

	static IdentityOptions options(int hops, String... proxies) {
		return TestCall.options("t", "s", "p", "k", Map.of(), hops, List.of(proxies));
	}

}
