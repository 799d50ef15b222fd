package dev.ratelimit.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;

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

/**
 * The live windows of a policy's limits: what its versions in force and the records about
 * callers give together.
 *
 * <p>
 * An override that names only dimensions by which a limit counts is for counters of its
 * own: whoever is counted there has it. It does not change what holds for the others, so
 * that one caller with a huge burst does not weaken the limit for everybody. Every other
 * override shares counters with callers that do not have it. So does one that names an
 * IP, since the addresses of an IPv6 network share a counter; one that names a value that
 * callers can claim without being it; and any while two versions are in force.
 */
final class PolicyWindows {

	/** Whose values are always verified, and exactly those that are counted by. */
	private static final Set<Dimension> CERTAIN = Set.of(Dimension.TENANT, Dimension.USER, Dimension.ROUTE,
			Dimension.REGION);

	private final Map<Kind, LiveWindows> live = new HashMap<>();

	/** What the versions in force give to callers that share counters. */
	private final Map<Kind, Shared> versions = new HashMap<>();

	/** All windows of the versions in force. */
	private Map<Kind, Set<Duration>> configured = Map.of();

	private final Map<Dimension, Map<String, RecordedQuotas>> recorded = new HashMap<>();

	/**
	 * The windows of a limit, the same object for ever.
	 */
	synchronized LiveWindows of(Algorithm algorithm, String limit) {
		return this.live.computeIfAbsent(new Kind(algorithm, limit), (kind) -> new LiveWindows());
	}

	/**
	 * Puts versions in force.
	 * @throws IllegalArgumentException if a limit would have windows that one counter
	 * cannot keep; nothing has changed then
	 */
	synchronized void put(List<Policy> policies) {
		require(policies);
		this.configured = windows(policies);
		this.versions.clear();
		for (Policy policy : policies) {
			for (Limit limit : policy.limits()) {
				this.versions.computeIfAbsent(new Kind(policy.algorithm(), limit.name()), (kind) -> new Shared())
					.add(policy, limit);
			}
		}
		this.versions.values().forEach(Shared::addOverrides);
		this.versions.keySet().forEach(this::update);
	}

	/**
	 * Checks that versions could be put in force beside the records there are.
	 * @throws IllegalArgumentException naming the windows that do not fit, and the fix
	 */
	synchronized void require(List<Policy> policies) {
		windows(policies).forEach((kind, windows) -> requireDistinct(kind.limit(), windows, List.of()));
	}

	/**
	 * Checks that a record could be written.
	 * @throws IllegalArgumentException naming the windows that do not fit, and the fix
	 */
	synchronized void require(Map<String, List<Quota>> limits) {
		limits.forEach((limit, quotas) -> {
			requireDistinct(limit, Set.of(), quotas);
			this.configured.forEach((kind, windows) -> {
				if (kind.limit().equals(limit)) {
					requireDistinct(limit, windows, quotas);
				}
			});
		});
	}

	private void requireDistinct(String limit, Set<Duration> windows, List<Quota> quotas) {
		Set<Duration> all = recorded(limit);
		all.addAll(windows);
		quotas.forEach((quota) -> all.add(quota.window()));
		WindowTag.requireDistinct(limit, all);
	}

	/**
	 * Replaces what a record says.
	 * @param before by the name of the limit; empty if there was no record
	 * @param after empty if there is none any more
	 * @throws IllegalArgumentException if it does not fit; nothing has changed then
	 */
	synchronized void replace(Dimension dimension, Map<String, List<Quota>> before, Map<String, List<Quota>> after) {
		Map<String, RecordedQuotas> records = this.recorded.computeIfAbsent(dimension, (any) -> new HashMap<>());
		Set<String> changed = count(records, before, RecordedQuotas::remove);
		try {
			require(after);
			changed.addAll(count(records, after, RecordedQuotas::add));
		}
		catch (IllegalArgumentException ex) {
			count(records, before, RecordedQuotas::add);
			throw ex;
		}
		this.versions.keySet().stream().filter((kind) -> changed.contains(kind.limit())).forEach(this::update);
	}

	/** Adds or takes out quotas, and says which limits have other windows now. */
	private static Set<String> count(Map<String, RecordedQuotas> records, Map<String, List<Quota>> limits,
			BiPredicate<RecordedQuotas, Quota> change) {
		Set<String> changed = new HashSet<>();
		limits.forEach((limit, quotas) -> {
			RecordedQuotas known = records.computeIfAbsent(limit, (any) -> new RecordedQuotas());
			for (Quota quota : quotas) {
				if (change.test(known, quota)) {
					changed.add(limit);
				}
			}
		});
		return changed;
	}

	private void update(Kind kind) {
		Shared shared = this.versions.get(kind);
		if (shared == null) {
			return;
		}
		List<LiveWindow> windows = new ArrayList<>(shared.windows);
		this.recorded.forEach((dimension, records) -> {
			RecordedQuotas quotas = records.get(kind.limit());
			if (quotas != null && shared.isSharedBy(Set.of(dimension))) {
				windows.addAll(quotas.windows());
			}
		});
		of(kind.algorithm(), kind.limit()).set(windows);
	}

	private Set<Duration> recorded(String limit) {
		Set<Duration> windows = new HashSet<>();
		for (Map<String, RecordedQuotas> records : this.recorded.values()) {
			RecordedQuotas quotas = records.get(limit);
			if (quotas != null) {
				quotas.windows().forEach((window) -> windows.add(window.length()));
			}
		}
		return windows;
	}

	/** Versions with different algorithms share no counters. */
	private static Map<Kind, Set<Duration>> windows(List<Policy> policies) {
		Map<Kind, Set<Duration>> windows = new HashMap<>();
		for (Policy policy : policies) {
			for (Limit limit : policy.limits()) {
				Set<Duration> known = windows.computeIfAbsent(new Kind(policy.algorithm(), limit.name()),
						(kind) -> new HashSet<>());
				policy.quotas(limit.name()).forEach((quota) -> known.add(quota.window()));
			}
		}
		return windows;
	}

	private record Kind(Algorithm algorithm, String limit) {
	}

	/**
	 * What versions give to callers of a limit that share counters.
	 */
	private static final class Shared {

		private final List<LiveWindow> windows = new ArrayList<>();

		/** One of each version. */
		private final List<Limit> limits = new ArrayList<>();

		private final List<PolicyOverride> overrides = new ArrayList<>();

		void add(Policy policy, Limit limit) {
			this.limits.add(limit);
			add(limit.quotas());
			policy.settings().tiers().values().forEach((tier) -> add(tier.limits().get(limit.name())));
			this.overrides.addAll(policy.settings().overrides());
		}

		/** Once all versions are known. */
		void addOverrides() {
			String name = this.limits.get(0).name();
			this.overrides.stream()
				.filter((override) -> isSharedBy(override.when().keySet()))
				.forEach((override) -> add(override.limits().get(name)));
		}

		/** Whether an override for such callers shares counters with others. */
		boolean isSharedBy(Collection<Dimension> dimensions) {
			return this.limits.size() > 1 || !CERTAIN.containsAll(dimensions)
					|| !this.limits.get(0).by().containsAll(dimensions);
		}

		private void add(@Nullable List<Quota> quotas) {
			Stream.ofNullable(quotas).flatMap(List::stream).map(LiveWindow::of).forEach(this.windows::add);
		}

	}

}
