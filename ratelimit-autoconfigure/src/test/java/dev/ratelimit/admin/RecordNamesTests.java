package dev.ratelimit.admin;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

import static org.assertj.core.api.Assertions.assertThat;

class RecordNamesTests {

	private static final RecordKey ACME = RecordIds.override("orders", Dimension.TENANT, "acme");

	private final RecordNames names = names(Set.of(Dimension.IP, Dimension.USER));

	@Test
	void recordIsNamedByKindAndId() {
		assertThat(this.names.of(ACME)).isEqualTo("override orders/tenant/acme");
		assertThat(this.names.of(RecordIds.tier(Dimension.TENANT, "a/b"))).isEqualTo("tier tenant/a/b");
		assertThat(this.names.of(RecordIds.tightening("orders", "acme"))).isEqualTo("tenant orders/tenant/acme");
		assertThat(this.names.of(RecordIds.policy("orders"))).isEqualTo("policy orders");
		assertThat(this.names.of(RecordIds.entry(Kind.DENY, Map.of(Dimension.TENANT, "acme"))))
			.isEqualTo("deny tenant=acme");
	}

	@Test
	void apiKeyIsNamedByItsDigest() {
		assertThat(this.names.of(RecordIds.override("orders", Dimension.API_KEY, "sk_secret")))
			.startsWith("override orders/api-key/sha256:")
			.doesNotContain("sk_secret");
		assertThat(this.names.of(new RecordKey(Kind.TIER, "api-key/sk_secret"))).startsWith("tier api-key/sha256:");
	}

	@Test
	void addressesAndHashedUsersArePseudonyms() {
		assertThat(
				this.names.of(RecordIds.entry(Kind.DENY, Map.of(Dimension.IP, "203.0.113.7", Dimension.USER, "ann"))))
			.isEqualTo("deny ip=<ip 203.0.113.7>&user=<user ann>");
		assertThat(this.names.of(RecordIds.entry(Kind.DENY, Map.of(Dimension.IP, "203.0.113.7/32"))))
			.isEqualTo("deny ip=<ip 203.0.113.7>");
		assertThat(this.names.of(RecordIds.override("orders", Dimension.IP, "2001:db8::7")))
			.isEqualTo("override orders/ip/<ip 2001:db8:0:0:0:0:0:0>");
	}

	@Test
	void addressIsAPseudonymHoweverItIsWrittenAndCounted() {
		assertThat(this.names.of(RecordIds.entry(Kind.DENY, Map.of(Dimension.IP, "::ffff:203.0.113.7"))))
			.isEqualTo("deny ip=<ip 203.0.113.7>");
		assertThat(names(Set.of()).of(RecordIds.entry(Kind.DENY, Map.of(Dimension.IP, "203.0.113.7"))))
			.isEqualTo("deny ip=<ip 203.0.113.7>");
	}

	@Test
	void usersThatAreNotHashedAreNamed() {
		assertThat(names(Set.of(Dimension.IP)).of(RecordIds.override("orders", Dimension.USER, "ann")))
			.isEqualTo("override orders/user/ann");
	}

	@Test
	void networkIsNoCaller() {
		assertThat(this.names.of(RecordIds.entry(Kind.DENY, Map.of(Dimension.IP, "203.0.113.0/24"))))
			.isEqualTo("deny ip=203.0.113.0/24");
	}

	@Test
	void valueIsLeftOutWhileThereIsNoPseudonym() {
		RecordNames unsalted = new RecordNames((dimension, value) -> {
			throw new IllegalStateException("no salt");
		}, Set.of(Dimension.IP), 64);
		assertThat(unsalted.of(RecordIds.override("orders", Dimension.IP, "203.0.113.7")))
			.isEqualTo("override of orders by ip");
	}

	@Test
	void digestOfAnImportDependsOnNamesAndContents() {
		Change change = new Change(ACME, Map.of("limits", Map.of("a", "1/s")), null);
		String digest = this.names.digest(List.of(change));
		assertThat(digest).matches("sha256:[0-9a-f]{64}").isEqualTo(this.names.digest(List.of(change)));
		assertThat(this.names.digest(List.of(new Change(ACME, Map.of("limits", Map.of("a", "2/s")), null))))
			.isNotEqualTo(digest);
		assertThat(this.names.digest(List.of(new Change(ACME, null, null)))).isNotEqualTo(digest);
		assertThat(this.names.digest(List.of(change, change))).isNotEqualTo(digest);
	}

	private static RecordNames names(Set<Dimension> hashed) {
		return new RecordNames((dimension, value) -> "<" + dimension.name() + ' ' + value + ">", hashed, 64);
	}

}
