package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which version holds where a new one does not.
 */
class ChangeCheckTests {

	private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");

	private static final Documents.Previous FIRST = new Documents.Previous(1,
			Map.of("valid-from", NOW.minus(Duration.ofDays(9)).toString()));

	private final RecordReader reader = new TimesOnly();

	private final ChangeCheck check = new ChangeCheck(this.reader,
			new LivePolicies(() -> PolicySet.of(), (policies) -> {
			}, this.reader, (key) -> List.of()), (policy) -> List.of(), InstantSource.fixed(NOW));

	@Test
	void versionWhoseTimeHasComeIsTheOneBeforeTheNext() {
		assertThat(previous(second(NOW.minus(Duration.ofDays(1)))).version()).isEqualTo(2);
		assertThat(previous(second(NOW)).version()).isEqualTo(2);
	}

	@Test
	void versionWhoseTimeIsToComeLeavesTheOneBeforeIt() {
		assertThat(previous(second(NOW.plusMillis(1)))).isEqualTo(FIRST);
	}

	@Test
	void versionThatStartedLongAgoNeedsNoneBeforeIt() {
		assertThat(this.check.needsNoPrevious(policy(NOW.minus(Duration.ofDays(1))))).isTrue();
	}

	@Test
	void versionThatHasJustStartedKeepsTheOneBeforeItForInstancesWhoseClockIsBehind() {
		assertThat(this.check.needsNoPrevious(policy(NOW.minusSeconds(5)))).isFalse();
	}

	private Documents.Previous previous(RecordVersion newest) {
		return this.check.previous(policy(NOW.plusSeconds(60)), newest);
	}

	private static RecordVersion second(Instant validFrom) {
		String body = Documents.text(new Documents.PolicyText(Map.of("valid-from", validFrom.toString()), FIRST));
		return new RecordVersion(RecordIds.policy("orders"), 2, 2, body, "ann", NOW, "");
	}

	private static Policy policy(Instant validFrom) {
		return Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), "5/s")
			.build()
			.with(new Rollout(100, validFrom, List.of(), Duration.ofMinutes(10)));
	}

	/**
	 * Reads nothing of a policy but when it starts.
	 */
	private static final class TimesOnly implements RecordReader {

		@Override
		public List<String> warnings(Policy policy) {
			return List.of();
		}

		@Override
		public Policy policy(String id, long version, Map<String, Object> document) {
			return ChangeCheckTests.policy(Instant.parse(document.get("valid-from").toString()));
		}

		@Override
		public Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed) {
			return document;
		}

		@Override
		public Policy stored(String id, long version, Map<String, Object> document, Consumer<String> changed) {
			return policy(id, version, document);
		}

		@Override
		public Map<String, List<Quota>> override(Map<String, Object> document) {
			throw new UnsupportedOperationException();
		}

		@Override
		public String tier(Map<String, Object> document) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Dimension dimension(String field, String name) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void requireEntry(Kind list, Map<Dimension, String> entry) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Map<String, Object> document(Policy policy) {
			throw new UnsupportedOperationException();
		}

	}

}
