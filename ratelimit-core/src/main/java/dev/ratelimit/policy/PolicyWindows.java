package dev.ratelimit.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.WindowTag;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.CounterSpec;

/**
 * The live windows of a policy's limits, from its versions in force and from the records
 * about callers.
 *
 * <p>
 * An override that names only dimensions that the limit counts by has counters of its
 * own: every caller of such a counter has the override. It does not change the live
 * windows of other counters, so one caller with a huge burst does not weaken the limit
 * for all. Where such a counter has callers with yet another override, their spec knows
 * both: see {@link #beside}. Every other override shares counters with callers that do
 * not have it. An override also shares counters if it names an IP, because the addresses
 * of an IPv6 network share a counter; if it names a dimension that callers can merely
 * claim; and while two versions are in force.
 */
final class PolicyWindows {

	/** Dimensions whose values are always verified and are counted unchanged. */
	private static final Set<Dimension> CERTAIN = Set.of(Dimension.TENANT, Dimension.USER, Dimension.ROUTE,
			Dimension.REGION);

	private final Map<Kind, LiveWindows> live = new HashMap<>();

	/** The limits of the versions in force. */
	private Map<Kind, Versions> versions = Map.of();

	private final Map<Dimension, Map<String, RecordedQuotas>> recorded = new HashMap<>();

	/** By the spec of the caller, then by that of the others. */
	private final Cache<CounterSpec, Cache<CounterSpec, CounterSpec>> beside = cache();

	/**
	 * The windows of a limit; always the same object.
	 */
	synchronized LiveWindows of(Algorithm algorithm, String limit) {
		return this.live.computeIfAbsent(new Kind(algorithm, limit), (kind) -> new LiveWindows());
	}

	/**
	 * Puts versions in force.
	 * @throws IllegalArgumentException if one counter cannot keep the windows of a limit;
	 * nothing changes then
	 */
	synchronized void put(List<Policy> policies) {
		require(policies);
		this.versions = versions(policies);
		this.versions.forEach(this::update);
	}

	/**
	 * Checks that these versions fit together with the existing records.
	 * @throws IllegalArgumentException if the windows do not fit; the message names them
	 * and the fix
	 */
	synchronized void require(List<Policy> policies) {
		versions(policies).forEach((kind, limit) -> requireDistinct(kind.limit(), limit.lengths, List.of()));
	}

	/**
	 * Checks that a new record fits.
	 * @throws IllegalArgumentException if the windows do not fit; the message names them
	 * and the fix
	 */
	synchronized void require(Map<String, List<Quota>> limits) {
		limits.forEach((limit, quotas) -> {
			requireDistinct(limit, Set.of(), quotas);
			this.versions.forEach((kind, known) -> {
				if (kind.limit().equals(limit)) {
					requireDistinct(limit, known.lengths, quotas);
				}
			});
		});
	}

	private void requireDistinct(String limit, Set<Duration> lengths, List<Quota> quotas) {
		Set<Duration> all = new HashSet<>(lengths);
		quotas.forEach((quota) -> all.add(quota.window()));
		for (Map<String, RecordedQuotas> records : this.recorded.values()) {
			RecordedQuotas recorded = records.get(limit);
			if (recorded != null) {
				recorded.windows().forEach((window) -> all.add(window.length()));
			}
		}
		WindowTag.requireDistinct(limit, all);
	}

	/**
	 * Replaces the quotas of a record.
	 * @param before old quotas by the name of the limit; empty if there was no record
	 * @param after new quotas by the name of the limit; empty to remove the record
	 * @throws IllegalArgumentException if the new quotas do not fit; nothing changes then
	 */
	synchronized void replace(Dimension dimension, Map<String, List<Quota>> before, Map<String, List<Quota>> after) {
		Map<String, RecordedQuotas> records = this.recorded.computeIfAbsent(dimension, (any) -> new HashMap<>());
		Set<String> changed = count(records, before, -1);
		try {
			require(after);
			changed.addAll(count(records, after, 1));
		}
		catch (IllegalArgumentException ex) {
			count(records, before, 1);
			throw ex;
		}
		this.versions.forEach((kind, versions) -> {
			if (changed.contains(kind.limit())) {
				update(kind, versions);
			}
		});
	}

	/** Adds or removes quotas; returns the limits whose windows changed. */
	private static Set<String> count(Map<String, RecordedQuotas> records, Map<String, List<Quota>> limits, int times) {
		Set<String> changed = new HashSet<>();
		limits.forEach((limit, quotas) -> {
			RecordedQuotas known = records.computeIfAbsent(limit, (any) -> new RecordedQuotas());
			for (Quota quota : quotas) {
				if (known.count(quota, times)) {
					changed.add(limit);
				}
			}
		});
		return changed;
	}

	private void update(Kind kind, Versions versions) {
		List<LiveWindow> windows = new ArrayList<>(versions.windows);
		this.recorded.forEach((dimension, records) -> {
			RecordedQuotas quotas = records.get(kind.limit());
			if (quotas != null && versions.isSharedBy(Set.of(dimension))) {
				windows.addAll(quotas.windows());
			}
		});
		of(kind.algorithm(), kind.limit()).set(windows);
	}

	/** Versions with different algorithms share no counters. */
	private static Map<Kind, Versions> versions(List<Policy> policies) {
		Map<Kind, Versions> versions = new HashMap<>();
		for (Policy policy : policies) {
			for (Limit limit : policy.limits()) {
				versions.computeIfAbsent(new Kind(policy.algorithm(), limit.name()), (kind) -> new Versions())
					.add(policy, limit);
			}
		}
		versions.values().forEach(Versions::addOverrides);
		return versions;
	}

	/**
	 * Whether all callers of a counter have an override with these dimensions if one of
	 * them has.
	 */
	static boolean isOwn(Limit limit, Collection<Dimension> dimensions) {
		return CERTAIN.containsAll(dimensions) && limit.by().containsAll(dimensions);
	}

	/**
	 * The spec of a caller with an override of its own, on a counter whose other callers
	 * have another override. Always the same object for the same specs.
	 */
	CounterSpec beside(CounterSpec spec, CounterSpec others) {
		Cache<CounterSpec, CounterSpec> known = this.beside.getIfPresent(spec);
		if (known == null) {
			known = this.beside.get(spec, (key) -> cache());
		}
		CounterSpec beside = known.getIfPresent(others);
		return (beside != null) ? beside
				: known.get(others, (key) -> spec.with(spec.limit().quotas(), others.limit().quotas()));
	}

	private static <V> Cache<CounterSpec, V> cache() {
		return Caffeine.newBuilder().weakKeys().executor(Runnable::run).build();
	}

	private record Kind(Algorithm algorithm, String limit) {
	}

	/** A limit in the versions in force. */
	private static final class Versions {

		/** Lengths of all its windows. */
		private final Set<Duration> lengths = new HashSet<>();

		/** Windows of callers that share counters. */
		private final List<LiveWindow> windows = new ArrayList<>();

		/** The limit in each version. */
		private final List<Limit> limits = new ArrayList<>();

		private final List<PolicyOverride> overrides = new ArrayList<>();

		void add(Policy policy, Limit limit) {
			this.limits.add(limit);
			policy.quotas(limit.name()).forEach((quota) -> this.lengths.add(quota.window()));
			add(limit.quotas());
			policy.settings().tiers().values().forEach((tier) -> add(tier.limits().get(limit.name())));
			this.overrides.addAll(policy.settings().overrides());
		}

		/** Must run after all versions were added. */
		void addOverrides() {
			String name = this.limits.get(0).name();
			this.overrides.stream()
				.filter((override) -> isSharedBy(override.when().keySet()))
				.forEach((override) -> add(override.limits().get(name)));
		}

		/**
		 * Whether an override with these dimensions shares counters with callers that do
		 * not have it.
		 */
		boolean isSharedBy(Collection<Dimension> dimensions) {
			return this.limits.size() > 1 || !isOwn(this.limits.get(0), dimensions);
		}

		private void add(@Nullable List<Quota> quotas) {
			Stream.ofNullable(quotas).flatMap(List::stream).map(LiveWindow::of).forEach(this.windows::add);
		}

	}

}
