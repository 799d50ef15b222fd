package dev.ratelimit.autoconfigure;

import java.time.Instant;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

import static org.assertj.core.api.Assertions.assertThat;

class RecentChangesTests {

	private static final Instant START = Instant.parse("2026-11-16T03:47:00Z");

	private Instant now = START;

	private final RecentChanges changes = new RecentChanges(() -> this.now);

	@Test
	void overrideConcernsItsPolicyForTenSeconds() {
		changed(RecordKey.Kind.OVERRIDE, "orders/tenant/acme");
		assertThat(this.changes.of("orders")).isEqualTo(new RecentChanges.Change("override", START));
		assertThat(this.changes.of("other")).isNull();
		this.now = START.plusSeconds(11);
		assertThat(this.changes.of("orders")).isNull();
	}

	@Test
	void listsAndTiersConcernEveryPolicy() {
		changed(RecordKey.Kind.POLICY, "orders");
		this.now = START.plusSeconds(1);
		changed(RecordKey.Kind.DENY, "ip=203.0.113.7");
		assertThat(this.changes.of("orders").what()).isEqualTo("deny");
		assertThat(this.changes.of("other").what()).isEqualTo("deny");
	}

	@Test
	void recordOfAnUnknownKindIsNoChange() {
		changed(RecordKey.Kind.POLICY, "orders");
		this.now = START.plusSeconds(1);
		changed(RecordKey.Kind.UNKNOWN, "novel/acme");
		assertThat(this.changes.of("orders").what()).isEqualTo("policy");
		assertThat(this.changes.of("other")).isNull();
	}

	@Test
	void whatWasReadAtTheStartIsNoChange() {
		RecordVersion old = new RecordVersion(new RecordKey(RecordKey.Kind.POLICY, "orders"), 1, 1, "{}", "ann",
				START.minusSeconds(60), "");
		this.changes.changed(List.of(old));
		assertThat(this.changes.of("orders")).isNull();
	}

	private void changed(RecordKey.Kind kind, String id) {
		this.changes.changed(List.of(new RecordVersion(new RecordKey(kind, id), 1, 1, "{}", "ann", this.now, "")));
	}

}
