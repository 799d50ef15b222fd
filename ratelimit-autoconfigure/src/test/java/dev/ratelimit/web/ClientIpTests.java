package dev.ratelimit.web;

import java.time.Duration;
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
		assertThat(ClientIp.of(TestCall.from("::ffff:203.0.113.9"), 0)).isEqualTo("203.0.113.9");
		assertThat(ClientIp.of(TestCall.from("2001:db8::1"), 0)).isEqualTo("2001:db8:0:0:0:0:0:1");
	}

	@Test
	void withoutASocketThereIsNoAddress() {
		assertThat(ClientIp.of(TestCall.from(SOCKET).withoutAddress(), 0)).isNull();
		assertThat(ClientIp.of(TestCall.from(SOCKET).withoutAddress().header("X-Forwarded-For", "x"), 1)).isNull();
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
		return ClientIp.of(TestCall.from(SOCKET).header("X-Forwarded-For", forwardedFor), hops);
	}

}
