package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.json.Json;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Checks changes before they are written.
 */
final class ChangeCheck {

	/** Largest difference between the clocks of instances. */
	private static final Duration SKEW = Duration.ofMinutes(1);

	private final RecordReader reader;

	private final LivePolicies live;

	private final PolicyUses uses;

	private final InstantSource clock;

	ChangeCheck(RecordReader reader, LivePolicies live, PolicyUses uses, InstantSource clock) {
		this.reader = reader;
		this.live = live;
		this.uses = uses;
		this.clock = clock;
	}

	RecordKey policyKey(String id) {
		try {
			return RecordIds.policy(id);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidChangeException("id", "A policy's id has 1 to 63 characters.", "Use a shorter one.");
		}
	}

	/** A policy that somebody sends: unknown fields are errors. */
	Policy policy(String id, Map<String, Object> document) {
		return fitting(this.reader.policy(id, 0, document));
	}

	/** A policy to be written again: unknown fields of a newer release stay in it. */
	Policy storedPolicy(String id, Map<String, Object> document) {
		return fitting(stored(id, 0, document));
	}

	private Policy fitting(Policy policy) {
		requireWindows(() -> this.live.current().requireWindows(policy, null));
		this.uses.requireFitting(policy);
		return policy;
	}

	private static void requireWindows(Runnable check) {
		try {
			check.run();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidChangeException("limits", ex.getMessage() + ".",
					"Use windows that the other callers of the limit have.");
		}
	}

	/**
	 * Whether the policy is for everybody on every instance. An instance whose clock is
	 * behind must not find a version that has not started without the one before it.
	 */
	boolean needsNoPrevious(Policy policy) {
		return holdsForAll(policy, this.clock.instant().minus(SKEW));
	}

	private static boolean holdsForAll(Policy policy, Instant now) {
		Instant validFrom = policy.settings().rollout().validFrom();
		return !policy.settings().shadow() && policy.settings().rollout().percent() == 100
				&& (validFrom == null || !now.isBefore(validFrom));
	}

	/**
	 * The version for callers that a new one is not for: the newest, or its own previous
	 * version if it is not for everybody itself. If that one is rejected here, it is the
	 * one in force here: an instance puts a new version in force only with a previous one
	 * that fits.
	 * @param policy the new version
	 * @param newest the newest version in the store, {@code null} if there is none
	 */
	Documents.@Nullable Previous previous(Policy policy, @Nullable RecordVersion newest) {
		String id = policy.id();
		Documents.Previous previous;
		try {
			previous = last(id, newest);
			requireFitting(id, previous);
		}
		catch (InvalidChangeException ex) {
			previous = inForce(id);
			requireFittingInForce(id, previous);
		}
		if (previous != null && !policy.settings().shadow()) {
			Policy before = stored(id, previous.version(), previous.document());
			requireWindows(() -> this.live.current().requireWindows(policy, before));
		}
		return previous;
	}

	private Documents.@Nullable Previous last(String id, @Nullable RecordVersion newest) {
		if (newest == null || newest.deleted()) {
			Policy configured = this.live.configured(id);
			return (configured != null) ? previous(configured) : null;
		}
		Documents.PolicyText text = Documents.policy(newest.body());
		boolean whole = holdsForAll(stored(id, newest.version(), text.document()), this.clock.instant());
		return whole ? new Documents.Previous(newest.version(), text.document()) : text.previous();
	}

	private Documents.@Nullable Previous inForce(String id) {
		Instant now = this.clock.instant();
		return this.live.current()
			.versions(id)
			.stream()
			.filter((known) -> holdsForAll(known, now))
			.findFirst()
			.map(this::previous)
			.orElse(null);
	}

	private Documents.Previous previous(Policy known) {
		return new Documents.Previous(known.version(), this.reader.document(known));
	}

	private void requireFitting(String id, Documents.@Nullable Previous previous) {
		if (previous != null) {
			fitting(stored(id, previous.version(), previous.document()));
		}
	}

	private void requireFittingInForce(String id, Documents.@Nullable Previous previous) {
		try {
			requireFitting(id, previous);
		}
		catch (InvalidChangeException ex) {
			throw new InvalidChangeException("rollout",
					"The version in force would decide for the other callers, but does not fit. " + ex.problem(),
					"Write the policy for all callers at once.");
		}
	}

	/** A stored policy in a form that can be written again, with all its fields. */
	Map<String, Object> upgraded(Map<String, Object> document) {
		return this.reader.upgrade(document, (field) -> {
		});
	}

	/** A stored policy as this release reads it. */
	private Policy stored(String id, long version, Map<String, Object> document) {
		return this.reader.stored(id, version, document, (field) -> {
		});
	}

	/**
	 * A stored policy for another share of the callers. A policy that is not a stage of a
	 * rollout does not change.
	 */
	Map<String, Object> shared(String id, Map<String, Object> stored, ControlPlane.@Nullable Share share) {
		Rollout rollout = stored(id, 0, stored).settings().rollout();
		if (rollout.stages().isEmpty() || rollout.percent() == 100) {
			return stored;
		}
		if (share == null) {
			throw new InvalidChangeException("rollout",
					"This version was a rollout stage for " + rollout.percent() + " % of the callers.",
					"Add \"rollout\": \"everybody\" to bring it back for all callers, or \"rollout\": \"stages\" to "
							+ "begin with its first stage.");
		}
		return RolloutStep.at((share == ControlPlane.Share.EVERYBODY) ? 100 : rollout.firstPercent(), stored, rollout);
	}

	/** The edit for a change that was given alone. */
	Edit edit(Change change) {
		return edit(change, "", new HashMap<>());
	}

	/**
	 * The edit for a change that was given in this field of the request, or alone.
	 * @param page quotas of the earlier records of a page, by policy and limit, one for
	 * each window; the quotas of this record are added
	 */
	Edit edit(Change change, String at, Map<String, Map<String, List<Quota>>> page) {
		try {
			Map<String, Object> document = change.document();
			String body = (document != null) ? body(change.key(), document, page) : null;
			return new Edit(change.key(), body, change.expect());
		}
		catch (InvalidChangeException ex) {
			throw at.isEmpty() ? ex : new InvalidChangeException(at + '.' + ex.field(), ex.problem(), ex.fix());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidChangeException(at, String.valueOf(ex.getMessage()), "Correct the record.");
		}
	}

	private String body(RecordKey key, Map<String, Object> document, Map<String, Map<String, List<Quota>>> page) {
		return switch (key.kind()) {
			case OVERRIDE, TENANT -> override(key, document, page);
			case TIER -> {
				this.reader.dimension("dimension", RecordIds.parts(key, 2).get(0));
				yield Json.write(Map.of("tier", tier(document)));
			}
			case ALLOW, DENY -> entry(key, document);
			case POLICY, UNKNOWN -> throw new IllegalArgumentException("policies are written one by one");
		};
	}

	/** A tier that no policy has would give the caller the default quotas. */
	private String tier(Map<String, Object> document) {
		String tier = this.reader.tier(document);
		List<Policy> policies = this.live.current().policies();
		if (policies.stream().noneMatch((policy) -> policy.settings().tiers().containsKey(tier))) {
			throw new InvalidChangeException("tier", "No policy has a tier '" + tier + "'.",
					"Use one of: " + policies.stream()
						.flatMap((policy) -> policy.settings().tiers().keySet().stream())
						.distinct()
						.sorted()
						.collect(Collectors.joining(", ")) + "; or write a policy that has it first.");
		}
		return tier;
	}

	private String override(RecordKey key, Map<String, Object> document, Map<String, Map<String, List<Quota>>> page) {
		List<String> parts = RecordIds.parts(key, 3);
		this.reader.dimension("dimension", parts.get(1));
		Map<String, List<Quota>> limits = this.reader.override(document);
		Policy policy = this.live.current().find(parts.get(0));
		if (policy == null) {
			throw new InvalidChangeException("policy", "There is no policy '" + parts.get(0) + "'.",
					"Use one of: " + String.join(", ", this.live.current().ids().stream().sorted().toList()) + ".");
		}
		try {
			policy.requireOverride(limits);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidChangeException("limits", ex.getMessage() + ".",
					"Name limits that the policy has, and give them quotas that it allows.");
		}
		if (key.kind() == Kind.OVERRIDE) {
			Map<String, List<Quota>> together = page.computeIfAbsent(policy.id(), (id) -> new HashMap<>());
			limits.forEach((limit, quotas) -> together.merge(limit, quotas, ChangeCheck::onePerWindow));
			requireWindows(() -> this.live.current().requireWindows(policy.id(), together));
		}
		return Json.write(document);
	}

	private static List<Quota> onePerWindow(List<Quota> some, List<Quota> others) {
		Map<Duration, Quota> byWindow = new LinkedHashMap<>();
		Stream.of(some, others).flatMap(List::stream).forEach((quota) -> byWindow.putIfAbsent(quota.window(), quota));
		return List.copyOf(byWindow.values());
	}

	private String entry(RecordKey key, Map<String, Object> document) {
		if (!document.isEmpty()) {
			throw new InvalidChangeException("entry", "An entry of a list has no other fields.",
					"Leave out: " + String.join(", ", document.keySet()) + ".");
		}
		this.reader.requireEntry(key.kind(), this.reader.entry(key));
		return Json.write(Map.of());
	}

}
