package dev.ratelimit.web;

import java.util.List;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import dev.ratelimit.IpAddress;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever a caller writes into {@code X-Forwarded-For}, only what proxies of our own
 * have appended names its address.
 */
class ClientIpPropertyTests {

	private static final String SOCKET = "198.51.100.1";

	@Property
	void callerNeverChoosesWhatOurProxiesAppend(@ForAll("headerTexts") List<String> written,
			@ForAll("addresses") @Size(min = 1, max = 4) List<String> appended) {
		String last = String.join(", ", appended);
		String[] lines = written.toArray(new String[written.size() + 1]);
		lines[written.size()] = last;
		Identity caller = locate(appended.size(), lines);
		assertThat(caller.ip()).isEqualTo(appended.get(0));
		assertThat(caller.ipVerified()).isTrue();
	}

	@Property
	void proxyThatAppendsToTheCallersOwnLineIsReadTheSame(@ForAll("headerText") String written,
			@ForAll("address") String appended) {
		assertThat(locate(1, written + ", " + appended).ip()).isEqualTo(appended);
	}

	@Property
	void addressIsTheSocketsAndUnverifiedOrOneThatWasWritten(@ForAll("headerTexts") List<String> written,
			@ForAll @IntRange(min = 1, max = 5) int hops) {
		Identity caller = locate(hops, written.toArray(String[]::new));
		assertThat(caller.ip()).isNotNull();
		if (caller.ipVerified()) {
			assertThat(IpAddress.parse(caller.ip())).isNotNull();
			assertThat(String.join(",", written)).containsAnyOf(".", ":");
		}
		else {
			assertThat(caller.ip()).isEqualTo(SOCKET);
		}
	}

	@Property
	void whoIsNoTrustedProxyIsItsSocket(@ForAll("headerTexts") List<String> written,
			@ForAll @IntRange(min = 0, max = 5) int hops) {
		Identity caller = new ClientIp(ClientIpTests.options(hops, "10.0.0.0/8")).locate(Identity.NOBODY,
				TestCall.from(SOCKET).header("X-Forwarded-For", written.toArray(String[]::new)));
		assertThat(caller.ip()).isEqualTo(SOCKET);
		assertThat(caller.ipVerified()).isTrue();
	}

	@Provide
	Arbitrary<List<String>> headerTexts() {
		return headerText().list().ofMaxSize(4);
	}

	/** What a header can carry, likely to be nearly an address. */
	@Provide
	Arbitrary<String> headerText() {
		Arbitrary<String> any = Arbitraries.strings().withChars("0123456789abcdef.:[],% \t/\"").ofMaxLength(60);
		Arbitrary<String> ascii = Arbitraries.strings().withCharRange(' ', '~').ofMaxLength(60);
		Arbitrary<String> entries = Arbitraries
			.oneOf(address(), Arbitraries.of("unknown", "", " ", "1.2.3", "[::1]:80", "1.2.3.4:5", "::ffff:1.2.3.4"))
			.list()
			.ofMaxSize(5)
			.map((list) -> String.join(",", list));
		return Arbitraries.oneOf(any, ascii, entries);
	}

	@Provide
	Arbitrary<List<String>> addresses() {
		return address().list().ofMinSize(1).ofMaxSize(4);
	}

	@Provide
	Arbitrary<String> address() {
		return Arbitraries.integers()
			.between(0, 255)
			.list()
			.ofSize(4)
			.map((parts) -> parts.get(0) + "." + parts.get(1) + "." + parts.get(2) + "." + parts.get(3));
	}

	private static Identity locate(int hops, String... lines) {
		return new ClientIp(ClientIpTests.options(hops)).locate(Identity.NOBODY,
				TestCall.from(SOCKET).header("X-Forwarded-For", lines));
	}

}
