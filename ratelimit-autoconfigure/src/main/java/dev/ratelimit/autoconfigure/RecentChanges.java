package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaListener;

/**
 * Changes at run time within the last seconds, by policy: a caller that is refused then
 * may have another limit than a moment before.
 */
final class RecentChanges implements ReplicaListener {

	private static final Duration RECENT = Duration.ofSeconds(10);

	/** Stands for all policies; no policy has this id. */
	private static final String EVERY_POLICY = "";

	private final Map<String, Change> changes = new ConcurrentHashMap<>();

	private final InstantSource clock;

	RecentChanges(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public void changed(List<RecordVersion> versions) {
		Instant oldest = this.clock.instant().minus(RECENT);
		this.changes.values().removeIf((change) -> change.time().isBefore(oldest));
		for (RecordVersion version : versions) {
			// A kind that this release does not know has no effect.
			if (version.key().kind() != RecordKey.Kind.UNKNOWN && !version.time().isBefore(oldest)) {
				this.changes.put(policy(version.key()), new Change(version.key().kind().text(), version.time()));
			}
		}
	}

	/**
	 * The last change that may concern callers of a policy, {@code null} if it is not
	 * recent.
	 */
	@Nullable Change of(String policy) {
		Change own = recent(this.changes.get(policy));
		Change every = recent(this.changes.get(EVERY_POLICY));
		return (own == null || every != null && every.time().isAfter(own.time())) ? every : own;
	}

	private @Nullable Change recent(@Nullable Change change) {
		return (change != null && !change.time().isBefore(this.clock.instant().minus(RECENT))) ? change : null;
	}

	private static String policy(RecordKey key) {
		return switch (key.kind()) {
			case POLICY -> key.id();
			case OVERRIDE, TENANT -> key.id().substring(0, Math.max(0, key.id().indexOf('/')));
			case TIER, ALLOW, DENY, UNKNOWN -> EVERY_POLICY;
		};
	}

	/**
	 * A change.
	 *
	 * @param what the kind of record
	 * @param time when it was written
	 */
	record Change(String what, Instant time) {
	}

}
