package dev.ratelimit;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A named set of limits with an algorithm, a failure mode and an enforcement mode.
 *
 * @param id the name that routes, annotations and requests use
 * @param version version number; 0 for a policy of the configuration
 * @param algorithm algorithm of all counters
 * @param limits 1 to 16; a request must pass all of them
 * @param settings everything that has a default
 */
public record Policy(String id, long version, Algorithm algorithm, List<Limit> limits, Settings settings) {

	/** A check of more limits than this takes too long. */
	public static final int MAX_LIMITS = 16;

	/** A log has one entry per request, so this bounds the memory of a log. */
	public static final long MAX_LOG_PERMITS = 10_000;

	/** Shortest deadline of a check: the timer of deadlines ticks in milliseconds. */
	public static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

	private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

	public Policy {
		limits = List.copyOf(limits);
		if (!isId(id)) {
			throw new IllegalArgumentException(
					"policy '" + id + "': an id is 1 to 63 lower-case letters, digits, dots, dashes and underscores");
		}
		if (limits.isEmpty() || limits.size() > MAX_LIMITS) {
			throw new IllegalArgumentException(
					"policy '" + id + "': needs 1 to " + MAX_LIMITS + " limits but has " + limits.size());
		}
		Set<String> names = new HashSet<>();
		for (Limit limit : limits) {
			if (!names.add(limit.name())) {
				throw new IllegalArgumentException("policy '" + id + "': has two limits named '" + limit.name() + "'");
			}
			limit.quotas().forEach((quota) -> requireFits(id, algorithm, limit.name(), quota));
		}
		List<Limit> known = limits;
		settings.tiers()
			.forEach((name, tier) -> requireFits(id, algorithm, known, "tier '" + name + "'", tier.limits()));
		settings.overrides().forEach((override) -> requireFits(id, algorithm, known, "an override", override.limits()));
		limits.forEach((limit) -> requireWindows(id, limit, settings));
		requirePenalisingLimit(id, limits, settings);
		Work.requireOneCall(id, algorithm, known, settings);
	}

	public static Policy of(String id, Algorithm algorithm, Limit... limits) {
		return new Policy(id, 0, algorithm, List.of(limits), Settings.DEFAULTS);
	}

	public static PolicyBuilder builder(String id) {
		return new PolicyBuilder(id);
	}

	/**
	 * Whether the text is a valid policy id.
	 */
	public static boolean isId(String text) {
		return ID.matcher(text).matches();
	}

	/**
	 * The same version with another rollout.
	 */
	public Policy with(Rollout rollout) {
		return new Policy(this.id, this.version, this.algorithm, this.limits, this.settings.with(rollout));
	}

	/**
	 * Checks that an override may give a caller these quotas.
	 * @param limits the quotas, by the name of the limit
	 * @throws IllegalArgumentException if a quota does not fit; the message names the
	 * quota and the fix
	 */
	public void requireOverride(Map<String, List<Quota>> limits) {
		requireFits(this.id, this.algorithm, this.limits, "an override", limits);
		Work.requireOneCall(this, limits);
	}

	/**
	 * The largest cost that fits for at least one caller: by default, with a tier or with
	 * an override.
	 */
	public long largestCost() {
		return this.limits.stream().mapToLong(this::largestCost).min().orElseThrow();
	}

	/**
	 * The largest cost that the policy itself charges, by path or as an estimate; at
	 * least 1. A route, an annotation or code may charge more.
	 */
	public long chargedCost() {
		Settling settling = this.settings.settling();
		return this.settings.costs().values().stream().reduce((settling != null) ? settling.estimate() : 1, Math::max);
	}

	private long largestCost(Limit limit) {
		return changes(limit.name(), this.settings).mapToLong((quotas) -> limit.withQuotas(quotas).largestCost())
			.reduce(limit.largestCost(), Math::max);
	}

	/**
	 * All quotas of a limit: the default ones, those of tiers and those of overrides.
	 */
	public Stream<Quota> quotas(String limit) {
		return quotas(this.limits.stream().filter((known) -> known.name().equals(limit)).findFirst().orElseThrow(),
				this.settings);
	}

	private static Stream<Quota> quotas(Limit limit, Settings settings) {
		return Stream.concat(Stream.of(limit.quotas()), changes(limit.name(), settings)).flatMap(List::stream);
	}

	/** The quotas that tiers and overrides give a limit. */
	private static Stream<List<Quota>> changes(String limit, Settings settings) {
		return settings.changes().map((change) -> change.get(limit)).filter(Objects::nonNull);
	}

	private static void requirePenalisingLimit(String id, List<Limit> limits, Settings settings) {
		if (settings.penalty() != null && limits.stream().noneMatch(Limit::penalises)) {
			throw new IllegalArgumentException("policy '" + id
					+ "': has a penalty but no limit by user, api-key or ip, and only such limits penalise");
		}
	}

	private static void requireWindows(String id, Limit limit, Settings settings) {
		try {
			WindowTag.requireDistinct(limit.name(), quotas(limit, settings).map(Quota::window).toList());
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("policy '" + id + "', " + ex.getMessage(), ex);
		}
	}

	private static void requireFits(String id, Algorithm algorithm, List<Limit> known, String where,
			Map<String, List<Quota>> limits) {
		limits.forEach((name, quotas) -> {
			Limit limit = known.stream()
				.filter((candidate) -> candidate.name().equals(name))
				.findFirst()
				.orElseThrow(() -> new IllegalArgumentException("policy '" + id + "': " + where + " changes limit '"
						+ name + "', which the policy does not have, use one of: "
						+ known.stream().map(Limit::name).collect(Collectors.joining(", "))));
			limit.withQuotas(quotas);
			quotas.forEach((quota) -> requireFits(id, algorithm, name, quota));
		});
	}

	private static void requireFits(String id, Algorithm algorithm, String limit, Quota quota) {
		String where = "policy '" + id + "', limit '" + limit + "', quota '" + quota + "': ";
		if (!algorithm.hasBurst() && quota.burst() != quota.permits()) {
			throw new IllegalArgumentException(
					where + algorithm.text() + " has no burst, remove it or use gcra or token-bucket");
		}
		if (algorithm == Algorithm.SLIDING_WINDOW_LOG && quota.permits() > MAX_LOG_PERMITS) {
			throw new IllegalArgumentException(where + "a sliding-window-log keeps an entry per request, at most "
					+ MAX_LOG_PERMITS + " permits; use gcra or sliding-window-counter");
		}
	}

	private static void requireTimeout(@Nullable Duration timeout) {
		if (timeout != null && timeout.compareTo(MIN_TIMEOUT) < 0) {
			throw new IllegalArgumentException("timeout must be at least 1ms but was " + timeout);
		}
	}

	/**
	 * The optional parts of a policy.
	 *
	 * @param description purpose of the policy
	 * @param owner person or team to contact
	 * @param enforcement where permits are taken
	 * @param shadow whether the policy counts and reports but never refuses
	 * @param onFailure failure mode
	 * @param degradedFloor a coarse quota per IP that applies while Redis does not
	 * answer, {@code null} for none
	 * @param degradedCeiling a coarse quota for all callers together, divided by the live
	 * instances, that applies while Redis does not answer, {@code null} for none
	 * @param onMissingIdentity handling of a request that lacks a dimension
	 * @param timeout deadline of a check, {@code null} for the global default
	 * @param costs cost of a request, by path pattern
	 * @param tiers changes for the callers of a plan, by tier name
	 * @param overrides other quotas for single callers
	 * @param rollout start time and share of callers of this version
	 * @param penalty what happens to callers that keep sending while they are refused,
	 * {@code null} for nothing
	 * @param settling how the true cost is learned after a request, {@code null} if it is
	 * known before
	 * @param idempotency how retries of an admitted request are recognised, {@code null}
	 * if every request is counted
	 */
	public record Settings(String description, String owner, Enforcement enforcement, boolean shadow,
			FailureMode onFailure, @Nullable Quota degradedFloor, @Nullable Quota degradedCeiling,
			MissingIdentity onMissingIdentity, @Nullable Duration timeout, Map<String, Long> costs,
			Map<String, Tier> tiers, List<PolicyOverride> overrides, Rollout rollout, @Nullable Penalty penalty,
			@Nullable Settling settling, @Nullable Idempotency idempotency) {

		public static final Settings DEFAULTS = new Settings("", "", Enforcement.STRICT, false, FailureMode.ALLOW, null,
				null, MissingIdentity.IP, null, Map.of(), Map.of(), List.of(), Rollout.COMPLETE, null, null, null);

		public Settings {
			requireTimeout(timeout);
			costs = Map.copyOf(costs);
			tiers = Map.copyOf(tiers);
			overrides = List.copyOf(overrides);
		}

		/**
		 * Quotas of each tier and each override, by the name of the limit.
		 */
		Stream<Map<String, List<Quota>>> changes() {
			return Stream.concat(this.tiers.values().stream().map(Tier::limits),
					this.overrides.stream().map(PolicyOverride::limits));
		}

		/**
		 * The same settings with another rollout.
		 */
		public Settings with(Rollout rollout) {
			return new Settings(this.description, this.owner, this.enforcement, this.shadow, this.onFailure,
					this.degradedFloor, this.degradedCeiling, this.onMissingIdentity, this.timeout, this.costs,
					this.tiers, this.overrides, rollout, this.penalty, this.settling, this.idempotency);
		}

	}

}
