package dev.ratelimit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class IpAddressTests {

	@ParameterizedTest
	@CsvSource({ "1.2.3.4,1.2.3.4", "255.255.255.255,255.255.255.255", "0.0.0.0,0.0.0.0", "::1,0:0:0:0:0:0:0:1",
			"::,0:0:0:0:0:0:0:0", "2001:DB8::1,2001:db8:0:0:0:0:0:1", "1:2:3:4:5:6:7:8,1:2:3:4:5:6:7:8",
			"1::8,1:0:0:0:0:0:0:8", "::ffff:1.2.3.4,1.2.3.4", "::FFFF:0102:0304,1.2.3.4",
			"64:ff9b::1.2.3.4,64:ff9b:0:0:0:0:102:304", "1:2:3:4:5:6:7::,1:2:3:4:5:6:7:0" })
	void literalHasOneSpelling(String text, String canonical) {
		assertThat(IpAddress.parse(text)).hasToString(canonical);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " 1.2.3.4", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "localhost",
			"example.com", "1.2.3.4:80", "1:2:3", "1:2:3:4:5:6:7:8:9", "1::2::3", ":1", "1:", "12345::", "g::1",
			"::1%eth0", "[::1]", "::1.2.3", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4::", "0x7f.1", "2130706433", ":::",
			"1:2:3:4:5:6:7:8::" })
	void whatIsNoLiteralIsNotLookedUp(String text) {
		assertThat(IpAddress.parse(text)).isNull();
	}

	@Test
	void hugeTextIsNoLiteral() {
		assertThat(IpAddress.parse("1".repeat(1_000_000))).isNull();
	}

	@Test
	void ipv6IsGroupedByPrefixAndIpv4IsNot() {
		assertThat(address("2001:db8:1:2:3:4:5:6").group(64)).isEqualTo(address("2001:db8:1:2::"));
		assertThat(address("2001:db8:1:2:3:4:5:6").group(48)).isEqualTo(address("2001:db8:1::"));
		assertThat(address("1.2.3.4").group(64)).isEqualTo(address("1.2.3.4"));
	}

	private static IpAddress address(String text) {
		IpAddress address = IpAddress.parse(text);
		assertThat(address).isNotNull();
		return address;
	}

}
