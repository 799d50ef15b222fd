package dev.ratelimit.policy;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AccessListTests {

	@ParameterizedTest
	@CsvSource({ "internal,internal,true", "internal,internal2,false", "internal,Internal,false",
			"sk_revoked_*,sk_revoked_1,true", "sk_revoked_*,sk_revoked_,true", "sk_revoked_*,sk_live_1,false",
			"*,anything,true", "a*b*c,aXbYc,true", "a*b*c,aXbY,false", "*end,the end,true", "*end,ends,false",
			"a*a,a,false", "a**b,ab,true" })
	void matchesExactlyOrByWildcard(String pattern, String value, boolean matches) {
		AccessList list = new AccessList(List.of(Map.of(Dimension.TENANT, pattern)));
		assertThat(matches(list, Map.of(Dimension.TENANT, value))).isEqualTo(matches);
	}

	@ParameterizedTest
	@CsvSource({ "10.0.0.0/8,10.255.1.2,true", "10.0.0.0/8,11.0.0.1,false", "203.0.113.7,203.0.113.7,true",
			"203.0.113.7,203.0.113.8,false", "2001:db8::/32,2001:db8:1::5,true", "2001:db8::/32,2001:db9::1,false",
			"10.0.0.0/8,::ffff:10.1.2.3,true", "0.0.0.0/0,2001:db8::1,false", "10.0.0.0/8,not an address,false" })
	void matchesAddressesByRange(String range, String value, boolean matches) {
		AccessList list = new AccessList(List.of(Map.of(Dimension.IP, range)));
		assertThat(matches(list, Map.of(Dimension.IP, value))).isEqualTo(matches);
	}

	@Test
	void listsWithTheSameEntriesAreEqual() {
		Map<Dimension, String> acme = Map.of(Dimension.TENANT, "acme");
		Map<Dimension, String> range = Map.of(Dimension.IP, "10.0.0.0/8");
		assertThat(new AccessList(List.of(acme, range))).isEqualTo(new AccessList(List.of(range, acme)))
			.hasSameHashCodeAs(new AccessList(List.of(range, acme)))
			.isNotEqualTo(new AccessList(List.of(acme)));
	}

	@Test
	void entryMatchesOnlyIfAllItsDimensionsDo() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.TENANT, "acme", Dimension.IP, "10.0.0.0/8")));
		assertThat(matches(list, Map.of(Dimension.TENANT, "acme", Dimension.IP, "10.0.0.1"))).isTrue();
		assertThat(matches(list, Map.of(Dimension.TENANT, "acme", Dimension.IP, "11.0.0.1"))).isFalse();
		assertThat(matches(list, Map.of(Dimension.TENANT, "acme"))).isFalse();
	}

	@Test
	void anyEntryWillDo() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.TENANT, "acme"), Map.of(Dimension.USER, "root")));
		assertThat(matches(list, Map.of(Dimension.TENANT, "other", Dimension.USER, "root"))).isTrue();
	}

	@Test
	void longValueAgainstManyWildcardsEndsSoon() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.TENANT, "*a".repeat(20) + "b")));
		assertThat(matches(list, Map.of(Dimension.TENANT, "a".repeat(32_000)))).isFalse();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "10.0.0.1/8", "10.0.0.0/33", "10.0.0/8", "example.com", "10.0.0.0/", "1.2.3.4/x", "::1/129" })
	void rangeThatIsNoneIsRejectedWithTheFix(String range) {
		assertThatIllegalArgumentException().isThrownBy(() -> new AccessList(List.of(Map.of(Dimension.IP, range))))
			.withMessageContaining(range);
	}

	@Test
	void emptyEntryIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> new AccessList(List.of(Map.of())));
		assertThatIllegalArgumentException().isThrownBy(() -> new AccessList(List.of(Map.of(Dimension.TENANT, " "))));
	}

	private static boolean matches(AccessList list, Map<Dimension, String> caller) {
		Request request = Request.of("orders");
		for (Map.Entry<Dimension, String> fact : caller.entrySet()) {
			request = request.with(fact.getKey(), fact.getValue());
		}
		return list.entries().matches(request, Facts.VERIFIED);
	}

}
