package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Checks changes before they are written.
 */
final class ChangeCheck {

	/** By how much the clocks of instances may differ. */
	private static final Duration SKEW = Duration.ofMinutes(1);

	private final RecordReader reader;

	private final LivePolicies live;

	private final InstantSource clock;

	/**
	 * Creates it.
	 * @param clock tells which versions have started
	 */
	ChangeCheck(RecordReader reader, LivePolicies live, InstantSource clock) {
		this.reader = reader;
		this.live = live;
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

	Policy policy(String id, Map<String, Object> document) {
		Policy policy = this.reader.policy(id, 0, document);
		requireWindows(() -> this.live.current().requireWindows(policy, null));
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
	 * Whether nobody is left to the version before it, whichever instance decides: one
	 * whose clock is behind must not find a version that has not started and none before
	 * it.
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
	 * The version that holds where a new one does not: the newest, or what held beside
	 * that one if it is not for everybody itself.
	 * @param policy the new one
	 * @param newest in the store, {@code null} if there is none
	 */
	Documents.@Nullable Previous previous(Policy policy, @Nullable RecordVersion newest) {
		Documents.Previous previous = previous(policy.id(), newest);
		if (previous != null && !policy.settings().shadow()) {
			Policy before = this.reader.policy(policy.id(), previous.version(), upgraded(previous.document()));
			requireWindows(() -> this.live.current().requireWindows(policy, before));
		}
		return previous;
	}

	private Documents.@Nullable Previous previous(String id, @Nullable RecordVersion newest) {
		if (newest == null || newest.deleted()) {
			Policy configured = this.live.configured(id);
			return (configured != null) ? new Documents.Previous(0, this.reader.document(configured)) : null;
		}
		try {
			Documents.PolicyText text = Documents.policy(newest.body());
			boolean whole = holdsForAll(this.reader.policy(id, newest.version(), upgraded(text.document())),
					this.clock.instant());
			return whole ? new Documents.Previous(newest.version(), text.document()) : text.previous();
		}
		catch (InvalidChangeException ex) {
			// It is not in force, so what is in force is what it would have replaced.
			Policy known = this.live.current().find(id);
			return (known != null) ? new Documents.Previous(known.version(), this.reader.document(known)) : null;
		}
	}

	/**
	 * A policy of the store as it can be written again.
	 */
	Map<String, Object> upgraded(Map<String, Object> document) {
		return this.reader.upgrade(document, (field) -> {
		});
	}

	Edit edit(Change change) {
		return edit(change, "");
	}

	/**
	 * What to write for a change.
	 * @param at where the change was given, empty if there is only one
	 */
	Edit edit(Change change, String at) {
		try {
			Map<String, Object> document = change.document();
			String body = (document != null) ? body(change.key(), document) : null;
			return new Edit(change.key(), body, change.expect());
		}
		catch (InvalidChangeException ex) {
			throw at.isEmpty() ? ex : new InvalidChangeException(at + '.' + ex.field(), ex.problem(), ex.fix());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidChangeException(at, String.valueOf(ex.getMessage()), "Correct the record.");
		}
	}

	private String body(RecordKey key, Map<String, Object> document) {
		return switch (key.kind()) {
			case OVERRIDE, TENANT -> override(key, document);
			case TIER -> {
				this.reader.dimension("dimension", RecordIds.parts(key, 2).get(0));
				yield Documents.text(Map.of("tier", tier(document)));
			}
			case ALLOW, DENY -> entry(key, document);
			case POLICY -> throw new IllegalArgumentException("policies are written one by one");
		};
	}

	/** A tier that no policy has would give the caller less than was meant. */
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

	private String override(RecordKey key, Map<String, Object> document) {
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
			requireWindows(() -> this.live.current().requireWindows(policy.id(), limits));
		}
		return Documents.text(document);
	}

	private String entry(RecordKey key, Map<String, Object> document) {
		if (!document.isEmpty()) {
			throw new InvalidChangeException("entry", "An entry of a list says nothing but who it is about.",
					"Leave out: " + String.join(", ", document.keySet()) + ".");
		}
		Map<Dimension, String> entry = RecordIds.entry(key)
			.entrySet()
			.stream()
			.collect(Collectors.toMap((part) -> this.reader.dimension("entry", part.getKey()), Map.Entry::getValue));
		this.reader.requireEntry(key.kind(), entry);
		return Documents.text(Map.of());
	}

}
