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
 * A named set of limits and how they are kept.
 *
 * @param id as named by routes, annotations and requests
 * @param version 0 for one that comes with the configuration
 * @param algorithm how all its counters count
 * @param limits at least one; a request has to pass all of them
 * @param settings all that has a default
 */
public record Policy(String id, long version, Algorithm algorithm, List<Limit> limits, Settings settings) {

	/** More than this per request is no longer a check that costs next to nothing. */
	public static final int MAX_LIMITS = 16;

	/** One log entry per request is kept, so a log is bounded by its permits. */
	public static final long MAX_LOG_PERMITS = 10_000;

	/** The shortest deadline of a check: the clock of deadlines ticks in milliseconds. */
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
		Work.requireOneCall(id, algorithm, known, settings);
	}

	public static Policy of(String id, Algorithm algorithm, Limit... limits) {
		return new Policy(id, 0, algorithm, List.of(limits), Settings.DEFAULTS);
	}

	public static PolicyBuilder builder(String id) {
		return new PolicyBuilder(id);
	}

	/**
	 * Whether a policy could be named so.
	 */
	public static boolean isId(String text) {
		return ID.matcher(text).matches();
	}

	/**
	 * The same version at another point of its rollout.
	 */
	public Policy with(Rollout rollout) {
		return new Policy(this.id, this.version, this.algorithm, this.limits, this.settings.with(rollout));
	}

	/**
	 * Checks that a caller could be given these quotas.
	 * @param limits the quotas, by the name of the limit
	 * @throws IllegalArgumentException naming what does not fit and what would
	 */
	public void requireOverride(Map<String, List<Quota>> limits) {
		requireFits(this.id, this.algorithm, this.limits, "an override", limits);
		Work.requireOneCall(this, limits);
	}

	/**
	 * The largest cost that some caller can ever be admitted with: under the default, a
	 * tier or an override.
	 */
	public long largestCost() {
		return this.limits.stream().mapToLong(this::largestCost).min().orElseThrow();
	}

	private long largestCost(Limit limit) {
		return this.settings.changes()
			.map((change) -> change.get(limit.name()))
			.filter(Objects::nonNull)
			.mapToLong((quotas) -> limit.withQuotas(quotas).largestCost())
			.reduce(limit.largestCost(), Math::max);
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
	 * What a policy may leave out.
	 *
	 * @param description what it is for
	 * @param owner who is called about it
	 * @param enforcement where permits are taken
	 * @param shadow whether it counts and reports but never refuses
	 * @param onFailure what answers when the counters cannot
	 * @param degradedFloor a coarse quota per IP that holds while degraded, {@code null}
	 * for none
	 * @param onMissingIdentity what happens to a request that lacks a dimension
	 * @param timeout deadline of a check, {@code null} for the general one
	 * @param costs what a request costs, by path pattern
	 * @param tiers what is different for the callers of a plan
	 * @param overrides what is different for single callers
	 * @param rollout how this version is brought to callers
	 */
	public record Settings(String description, String owner, Enforcement enforcement, boolean shadow,
			FailureMode onFailure, @Nullable Quota degradedFloor, MissingIdentity onMissingIdentity,
			@Nullable Duration timeout, Map<String, Long> costs, Map<String, Tier> tiers,
			List<PolicyOverride> overrides, Rollout rollout) {

		public static final Settings DEFAULTS = new Settings("", "", Enforcement.STRICT, false, FailureMode.ALLOW, null,
				MissingIdentity.IP, null, Map.of(), Map.of(), List.of(), Rollout.COMPLETE);

		public Settings {
			requireTimeout(timeout);
			costs = Map.copyOf(costs);
			tiers = Map.copyOf(tiers);
			overrides = List.copyOf(overrides);
		}

		/**
		 * Quotas that tiers and overrides give, each by the name of the limit.
		 */
		Stream<Map<String, List<Quota>>> changes() {
			return Stream.concat(this.tiers.values().stream().map(Tier::limits),
					this.overrides.stream().map(PolicyOverride::limits));
		}

		/**
		 * The same with another rollout.
		 */
		public Settings with(Rollout rollout) {
			return new Settings(this.description, this.owner, this.enforcement, this.shadow, this.onFailure,
					this.degradedFloor, this.onMissingIdentity, this.timeout, this.costs, this.tiers, this.overrides,
					rollout);
		}

	}

}
