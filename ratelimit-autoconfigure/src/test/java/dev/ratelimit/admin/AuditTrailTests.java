package dev.ratelimit.admin;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an instance remembers by itself.
 */
class AuditTrailTests {

	private static final Instant TIME = Instant.parse("2026-11-16T08:00:00.123456Z");

	private final AuditTrail trail = new AuditTrail(null);

	@Test
	void entriesOfTheSameTimeAreEachReadOnceInPages() {
		for (int i = 0; i < 5; i++) {
			this.trail.append(AuditRecord.of(TIME, "test", "done", "ann", "", "", "", "reason " + i), null, null);
		}
		List<Object> reasons = new ArrayList<>();
		Map<String, Object> page = show(null);
		reasons.addAll(reasons(page));
		while (page.containsKey("before")) {
			page = show(AuditPosition.parse(page.get("before").toString()));
			reasons.addAll(reasons(page));
		}
		assertThat(reasons).containsExactly("reason 4", "reason 3", "reason 2", "reason 1", "reason 0");
	}

	@Test
	void timeAloneLeavesOutAllEntriesOfThatTime() {
		this.trail.append(AuditRecord.of(TIME, "test", "done", "ann", "", "", "", ""), null, null);
		assertThat(reasons(show(AuditPosition.parse(TIME.toString())))).isEmpty();
		assertThat(reasons(show(AuditPosition.parse(TIME.plusNanos(1_000).toString())))).hasSize(1);
	}

	private Map<String, Object> show(AuditPosition before) {
		return this.trail.show(before, 2).toCompletableFuture().join();
	}

	private static List<?> reasons(Map<String, Object> page) {
		return ((List<?>) page.get("entries")).stream().map((entry) -> ((Map<?, ?>) entry).get("reason")).toList();
	}

}
