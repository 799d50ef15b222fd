package dev.ratelimit.control;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Versions that the store has but that are not in force, because they are invalid, do not
 * fit the other records of their policy, or cannot decide for what names it here. The
 * last two are tried again when these change.
 */
final class RejectedVersions {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Failures after one change, so that many records that never fit cost little. */
	private static final int MAX_FAILED_RETRIES = 100;

	private final Map<RecordKey, Rejected> rejected = new ConcurrentHashMap<>();

	/**
	 * Versions that may fit once other records, or what names the policy, have changed.
	 */
	private final Map<RecordKey, RecordVersion> waiting = new LinkedHashMap<>();

	Collection<Rejected> all() {
		return this.rejected.values();
	}

	/** Policies that may come into force later. */
	List<String> policies() {
		return this.waiting.keySet().stream().filter((key) -> key.kind() == Kind.POLICY).map(RecordKey::id).toList();
	}

	boolean contains(RecordKey key) {
		return this.rejected.containsKey(key);
	}

	/** Puts a version in force; rejects it if that throws. */
	void apply(RecordVersion version, Consumer<RecordVersion> effect) {
		RecordVersion before = this.waiting.remove(version.key());
		try {
			effect.accept(version);
			this.rejected.remove(version.key());
			if (before == version) {
				logger.info("Version {} of {} is in force now: what it did not fit has changed", version.version(),
						RecordIds.subject(version.key()));
			}
		}
		catch (InvalidChangeException ex) {
			reject(version, ex.problem() + " " + ex.fix());
		}
		catch (RuntimeException ex) {
			if (policyOf(version.key()) != null) {
				this.waiting.put(version.key(), version);
			}
			if (before != version) {
				reject(version, String.valueOf(ex.getMessage()));
			}
		}
	}

	/** Tries again the versions that did not fit other records of these policies. */
	void retry(Set<String> policies, Consumer<RecordVersion> effect) {
		List<RecordVersion> versions = this.waiting.values()
			.stream()
			.filter((version) -> policies.contains(policyOf(version.key())))
			.toList();
		int failed = 0;
		for (RecordVersion version : versions) {
			apply(version, effect);
			failed += this.waiting.containsKey(version.key()) ? 1 : 0;
			if (failed == MAX_FAILED_RETRIES) {
				return;
			}
		}
	}

	/** The policy whose windows a record shares, {@code null} if it shares none. */
	static @Nullable String policyOf(RecordKey key) {
		return switch (key.kind()) {
			case POLICY -> key.id();
			case OVERRIDE -> key.id().substring(0, Math.max(0, key.id().indexOf('/')));
			case TENANT, TIER, ALLOW, DENY, UNKNOWN -> null;
		};
	}

	/** The ids of other records name callers, so the log shows only those of policies. */
	private void reject(RecordVersion version, String message) {
		this.rejected.put(version.key(), new Rejected(version.key(), version.version(), message));
		if (version.key().kind() == Kind.POLICY) {
			logger.warn("Version {} of policy '{}' is in the store but not in force; the version before it stays. {}",
					version.version(), version.key().id(), message);
		}
		else {
			logger
				.warn("Version {} of a {} is in the store but not in force; the version before it stays. The actuator "
						+ "endpoint 'ratelimit' shows it under policies", version.version(), version.key());
		}
	}

}
