package dev.ratelimit.policy;

import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

class ListEntriesTests {

	private static final Map<Dimension, String> ACME = Map.of(Dimension.TENANT, "acme");

	private static final Map<Dimension, String> ACME_INSIDE = Map.of(Dimension.TENANT, "acme", Dimension.IP,
			"10.0.0.0/8");

	private static final Request INSIDE = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.IP, "10.1.2.3");

	private static final Request OUTSIDE = INSIDE.with(Dimension.IP, "11.1.2.3");

	private final ListEntries entries = new ListEntries();

	@Test
	void entryWithARangeStaysWhenTheOneWithoutIsRemoved() {
		this.entries.add(ACME);
		this.entries.add(ACME_INSIDE);
		assertThat(this.entries.size()).isEqualTo(2);
		this.entries.remove(ACME);
		assertThat(matches(INSIDE)).isTrue();
		assertThat(matches(OUTSIDE)).isFalse();
		this.entries.remove(ACME_INSIDE);
		assertThat(this.entries.size()).isZero();
	}

	@Test
	void entryWithoutARangeStaysWhenTheOneWithItIsRemoved() {
		this.entries.add(ACME_INSIDE);
		this.entries.add(ACME);
		this.entries.remove(ACME_INSIDE);
		assertThat(matches(OUTSIDE)).isTrue();
		this.entries.remove(ACME);
		assertThat(this.entries.size()).isZero();
	}

	@Test
	void removalOfAnUnknownEntryChangesNothing() {
		this.entries.add(ACME);
		this.entries.remove(ACME_INSIDE);
		this.entries.remove(Map.of(Dimension.TENANT, "other"));
		assertThat(matches(OUTSIDE)).isTrue();
		assertThat(this.entries.size()).isEqualTo(1);
	}

	@Test
	void entryAddedTwiceIsRemovedOnce() {
		this.entries.add(ACME);
		this.entries.add(ACME);
		this.entries.add(ACME_INSIDE);
		this.entries.add(ACME_INSIDE);
		assertThat(this.entries.size()).isEqualTo(2);
		this.entries.remove(ACME);
		this.entries.remove(ACME_INSIDE);
		assertThat(this.entries.size()).isZero();
	}

	@Test
	void rangeIsRemovedUnderAnotherSpelling() {
		this.entries.add(Map.of(Dimension.TENANT, "acme", Dimension.IP, "::1"));
		this.entries.remove(Map.of(Dimension.TENANT, "acme", Dimension.IP, "0:0::1"));
		assertThat(this.entries.size()).isZero();
	}

	@Test
	void networksOfEverySizeMatch() {
		this.entries.add(Map.of(Dimension.IP, "10.1.2.3"));
		this.entries.add(Map.of(Dimension.IP, "11.0.0.0/8"));
		this.entries.add(Map.of(Dimension.IP, "2001:db8::/32"));
		assertThat(matches(INSIDE)).isTrue();
		assertThat(matches(OUTSIDE)).isTrue();
		assertThat(matches(INSIDE.with(Dimension.IP, "2001:db8::7"))).isTrue();
		assertThat(matches(INSIDE.with(Dimension.IP, "12.0.0.1"))).isFalse();
		assertThat(matches(INSIDE.with(Dimension.IP, null))).isFalse();
	}

	@Test
	void claimedFactMatchesOnlyWhereAllFactsCount() {
		this.entries.add(ACME);
		Request claimed = Request.of("orders").withUnverified(Dimension.TENANT, "acme");
		assertThat(this.entries.matches(claimed, Facts.ALL)).isTrue();
		assertThat(this.entries.matches(claimed, Facts.VERIFIED)).isFalse();
	}

	private boolean matches(Request request) {
		return this.entries.matches(request, Facts.VERIFIED);
	}

}
