package dev.ratelimit.metrics;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Settlement;

/**
 * The meters of one policy. A new version starts its decisions from zero and keeps the
 * rest. Decisions of a version that was just replaced count for the newest in force, as
 * do those that no version had a part in.
 */
final class PolicyMeters {

	private static final String UNKNOWN = "unknown";

	private static final String NONE = "none";

	private final MeterRegistry registry;

	private final String id;

	private final StartingSeries starting;

	/** Of each version that is in force, the newest first. */
	private final List<Decisions> decisions;

	private final CounterTable<FailureMode, Decision.Reason> degraded;

	private final CounterTable<Settlement, Only> settles;

	private final CounterTable<Only, Only> replays;

	private final Map<String, Counter> refusals;

	private final @Nullable Standing standing;

	private PolicyMeters(MeterRegistry registry, String id, StartingSeries starting, List<Decisions> decisions,
			CounterTable<FailureMode, Decision.Reason> degraded, CounterTable<Settlement, Only> settles,
			CounterTable<Only, Only> replays, Map<String, Counter> refusals, @Nullable Standing standing) {
		this.registry = registry;
		this.id = id;
		this.starting = starting;
		this.decisions = decisions;
		this.degraded = degraded;
		this.settles = settles;
		this.replays = replays;
		this.refusals = refusals;
		this.standing = standing;
	}

	/**
	 * The meters of a policy.
	 * @param versions those in force, the newest first
	 */
	static PolicyMeters of(MeterRegistry registry, List<Policy> versions, StartingSeries starting) {
		Policy newest = versions.get(0);
		String id = newest.id();
		List<Decisions> decisions = versions.stream().map((version) -> begun(registry, version, starting)).toList();
		CounterTable<FailureMode, Decision.Reason> degraded = degraded(registry, id);
		starting.degraded(degraded, versions);
		return new PolicyMeters(registry, id, starting, decisions, degraded,
				awaited(settles(registry, id), newest, starting), counted(replays(registry, id), newest),
				refusals(registry, versions), Standing.of(registry, newest));
	}

	private static Decisions begun(MeterRegistry registry, Policy version, StartingSeries starting) {
		Decisions decisions = new Decisions(version.version(), decisions(registry, version.id(), version(version)));
		starting.decisions(decisions.table(), version);
		return decisions;
	}

	private static CounterTable<Settlement, Only> awaited(CounterTable<Settlement, Only> settles, Policy newest,
			StartingSeries starting) {
		if (newest.settings().settling() != null) {
			starting.settlements().forEach((settlement) -> settles.begin(settlement, Only.ONE));
		}
		return settles;
	}

	private static CounterTable<Only, Only> counted(CounterTable<Only, Only> replays, Policy newest) {
		if (newest.settings().idempotency() != null) {
			replays.begin(Only.ONE, Only.ONE);
		}
		return replays;
	}

	/**
	 * For all decisions whose policy does not exist. The name of such a policy may come
	 * from a caller, so it is no tag.
	 */
	static PolicyMeters ofUnknown(MeterRegistry registry) {
		Standing.info(registry, UNKNOWN, NONE);
		return new PolicyMeters(registry, UNKNOWN, StartingSeries.NONE,
				List.of(new Decisions(0, decisions(registry, UNKNOWN, NONE))), degraded(registry, UNKNOWN),
				settles(registry, UNKNOWN), replays(registry, UNKNOWN), Map.of(), null);
	}

	void decided(long version, Decision.Outcome outcome, Decision.Source source) {
		decisions(version).table().increment(outcome, source);
	}

	private Decisions decisions(long version) {
		for (int i = 1; i < this.decisions.size(); i++) {
			if (this.decisions.get(i).version() == version) {
				return this.decisions.get(i);
			}
		}
		return this.decisions.get(0);
	}

	void refused(String limit) {
		Counter counter = this.refusals.get(limit);
		if (counter != null) {
			counter.increment();
		}
	}

	void degraded(FailureMode mode, Decision.Reason reason) {
		this.degraded.increment(mode, reason);
	}

	void settled(Settlement settlement) {
		this.settles.increment(settlement, Only.ONE);
	}

	void replayed() {
		this.replays.increment(Only.ONE, Only.ONE);
	}

	/**
	 * Permits passed that no counter granted.
	 */
	void overage(long permits) {
		if (this.standing != null) {
			this.standing.overage().increment(permits);
		}
	}

	/**
	 * The meters of the same policy after a change. What it no longer has is removed
	 * before anything is registered, or the new would go with the old.
	 */
	PolicyMeters succeededBy(List<Policy> versions) {
		this.decisions.stream()
			.filter((known) -> versions.stream().noneMatch((version) -> version.version() == known.version()))
			.forEach((known) -> known.table().retire(this::remove));
		List<Decisions> decisions = versions.stream()
			.map((version) -> this.decisions.stream()
				.filter((known) -> known.version() == version.version())
				.findFirst()
				.orElseGet(() -> begun(this.registry, version, this.starting)))
			.toList();
		Policy newest = versions.get(0);
		this.refusals.forEach((limit, counter) -> {
			if (limits(versions).noneMatch(limit::equals)) {
				remove(counter);
			}
		});
		this.starting.degraded(this.degraded, versions);
		return new PolicyMeters(this.registry, this.id, this.starting, decisions, this.degraded,
				awaited(this.settles, newest, this.starting), counted(this.replays, newest),
				refusals(this.registry, versions),
				(this.standing != null) ? this.standing.succeededBy(this.registry, newest, this::remove)
						: Standing.of(this.registry, newest));
	}

	/**
	 * Removes all: the policy is gone.
	 */
	void retire() {
		this.decisions.forEach((decisions) -> decisions.table().retire(this::remove));
		this.degraded.retire(this::remove);
		this.settles.retire(this::remove);
		this.replays.retire(this::remove);
		this.refusals.values().forEach(this::remove);
		if (this.standing != null) {
			this.standing.all().forEach(this::remove);
		}
	}

	/**
	 * An application's filter may have merged policies into one meter: that one stays.
	 */
	private void remove(Meter meter) {
		if (this.id.equals(meter.getId().getTag("policy"))) {
			this.registry.remove(meter);
		}
	}

	private static CounterTable<Decision.Outcome, Decision.Source> decisions(MeterRegistry registry, String id,
			String version) {
		return new CounterTable<>(Decision.Outcome.class, Decision.Source.class,
				(outcome, source) -> Counter.builder(MeterNames.DECISIONS)
					.description("Decisions by what was decided and who answered")
					.tags("policy", id, "version", version, "outcome", outcome.text(), "source", source.text())
					.register(registry));
	}

	private static CounterTable<FailureMode, Decision.Reason> degraded(MeterRegistry registry, String id) {
		return new CounterTable<>(FailureMode.class, Decision.Reason.class,
				(mode, reason) -> Counter.builder(MeterNames.DEGRADED)
					.description("Decisions that a failure mode made because the counters could not")
					.tags("policy", id, "mode", mode.text(), "reason", reason.text())
					.register(registry));
	}

	private static CounterTable<Settlement, Only> settles(MeterRegistry registry, String id) {
		return new CounterTable<>(Settlement.class, Only.class,
				(settlement, only) -> Counter.builder(MeterNames.SETTLE)
					.description("Estimated costs by what became of them after the response")
					.tags("policy", id, "outcome", settlement.text())
					.register(registry));
	}

	private static CounterTable<Only, Only> replays(MeterRegistry registry, String id) {
		return new CounterTable<>(Only.class, Only.class,
				(only, same) -> Counter.builder(MeterNames.REPLAYS)
					.description("Requests that were admitted again without being counted")
					.tags("policy", id)
					.register(registry));
	}

	/** Registered at once: that nothing was refused yet is worth a zero. */
	private static Map<String, Counter> refusals(MeterRegistry registry, List<Policy> versions) {
		String id = versions.get(0).id();
		return limits(versions).collect(Collectors.toUnmodifiableMap(Function.identity(),
				(limit) -> Counter.builder(MeterNames.REFUSALS)
					.description("Refused requests by the limit that had them wait longest")
					.tags("policy", id, "limit", limit)
					.register(registry)));
	}

	/** Floor and ceiling refuse too, but are not limits of the policy. */
	private static Stream<String> limits(List<Policy> versions) {
		return versions.stream().flatMap(PolicyMeters::limits).distinct();
	}

	private static Stream<String> limits(Policy policy) {
		Policy.Settings settings = policy.settings();
		Stream<String> limits = policy.limits().stream().map(Limit::name);
		Stream<String> floor = (settings.degradedFloor() != null) ? Stream.of("degraded-floor") : Stream.empty();
		Stream<String> ceiling = (settings.degradedCeiling() != null) ? Stream.of("degraded-ceiling") : Stream.empty();
		return Stream.of(limits, floor, ceiling).flatMap(Function.identity());
	}

	private static String version(Policy policy) {
		return Long.toString(policy.version());
	}

	/** The only column of a table with one tag. */
	private enum Only {

		ONE

	}

	/**
	 * What a version has decided.
	 */
	private record Decisions(long version, CounterTable<Decision.Outcome, Decision.Source> table) {
	}

	/**
	 * What there is of a policy at once, with tags of its newest version.
	 */
	private record Standing(Gauge info, Counter overage, Counter rollbacks) {

		static Standing of(MeterRegistry registry, Policy newest) {
			return new Standing(info(registry, newest), overage(registry, newest),
					RolloutMeters.rollbacks(registry, newest.id()));
		}

		/**
		 * The meters of another version: the same where the tags are, as a gauge must not
		 * be registered twice.
		 */
		Standing succeededBy(MeterRegistry registry, Policy newest, Consumer<Meter> remove) {
			boolean owned = owner(newest).equals(this.info.getId().getTag("owner"));
			boolean enforced = enforcement(newest).equals(this.overage.getId().getTag("enforcement"));
			if (!owned) {
				remove.accept(this.info);
			}
			if (!enforced) {
				remove.accept(this.overage);
			}
			return new Standing(owned ? this.info : info(registry, newest),
					enforced ? this.overage : overage(registry, newest), this.rollbacks);
		}

		Stream<Meter> all() {
			return Stream.of(this.info, this.overage, this.rollbacks);
		}

		private static Gauge info(MeterRegistry registry, Policy newest) {
			return info(registry, newest.id(), owner(newest));
		}

		static Gauge info(MeterRegistry registry, String policy, String owner) {
			return Gauge.builder(MeterNames.POLICY_INFO, () -> 1)
				.description("Who is called about a policy")
				.tags("policy", policy, "owner", owner)
				.register(registry);
		}

		private static Counter overage(MeterRegistry registry, Policy newest) {
			return Counter.builder(MeterNames.OVERAGE)
				.description("Permits that passed although no counter of the limits had granted them")
				.tags("policy", newest.id(), "enforcement", enforcement(newest))
				.register(registry);
		}

		/** An empty tag is no tag to some registries. */
		private static String owner(Policy policy) {
			String owner = policy.settings().owner();
			return owner.isBlank() ? NONE : owner;
		}

		private static String enforcement(Policy policy) {
			return policy.settings().enforcement().text();
		}

	}

}
