package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.PolicySetBuilder;
import dev.ratelimit.policy.Records;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Puts what the store says in force on this instance: policies by the swap of a whole
 * snapshot, records about callers one by one. The configuration is the base: a policy of
 * the store stands before one of the same id, and that comes back when it is deleted.
 *
 * <p>
 * Whatever is in the store must not do harm here. A version that cannot be meant is left
 * out, with what was in force before it in its place, and shown to whoever asks.
 */
public final class LivePolicies {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final Supplier<PolicySet> current;

	private final Consumer<PolicySet> replace;

	private final RecordReader reader;

	private final Function<RecordKey, List<RecordVersion>> history;

	private volatile Configuration configuration;

	private final Map<RecordKey, Rejected> rejected = new ConcurrentHashMap<>();

	/**
	 * Begins with what is configured.
	 * @param current what is in force
	 * @param replace puts another snapshot in force
	 * @param history older versions of a record, the newest first; empty if nobody knows
	 */
	public LivePolicies(Supplier<PolicySet> current, Consumer<PolicySet> replace, RecordReader reader,
			Function<RecordKey, List<RecordVersion>> history) {
		this.history = history;
		this.current = current;
		this.replace = replace;
		this.reader = reader;
		this.configuration = Configuration.of(current.get());
	}

	/**
	 * What is in force.
	 */
	public PolicySet current() {
		return this.current.get();
	}

	/**
	 * The policy of that id in the configuration.
	 */
	public @Nullable Policy configured(String id) {
		return this.configuration.policies().get(id);
	}

	/**
	 * Versions that are in the store or in the configuration but not in force.
	 */
	public List<Rejected> rejected() {
		return Stream.concat(this.rejected.values().stream(), this.configuration.rejected().stream()).toList();
	}

	/**
	 * Replaces the base, in one step. What was edited at run time stays above it.
	 * @param next makes the new configuration of the one before; asked while nothing else
	 * changes, so that of two that are made at once the later one stays
	 * @return the one before
	 */
	public synchronized Configuration configure(UnaryOperator<Configuration> next) {
		Configuration before = this.configuration;
		Configuration after = next.apply(before);
		PolicySet current = this.current.get();
		Set<String> retired = current.retired();
		PolicySetBuilder policies = current.mutate().lists(after.allow(), after.deny());
		Stream.of(before, after)
			.flatMap((configuration) -> configuration.policies().keySet().stream())
			.filter((id) -> retired.contains(id) || !isWritten(current.find(id)))
			.forEach((id) -> putConfigured(id, after, policies));
		this.configuration = after;
		this.replace.accept(policies.build());
		return before;
	}

	private static boolean isWritten(@Nullable Policy policy) {
		return policy != null && policy.version() > 0;
	}

	/** What is gone goes on for requests that still name it. */
	private static void putConfigured(String id, Configuration configuration, PolicySetBuilder policies) {
		Policy policy = configuration.policies().get(id);
		if (policy == null) {
			policies.retire(id);
			return;
		}
		try {
			policies.put(policy);
		}
		catch (IllegalArgumentException ex) {
			logger.warn(
					"Policy '{}' of the configuration is not put in force; what was before it stays. {}. Change the "
							+ "windows of the policy or of the overrides that were written for it",
					id, ex.getMessage());
		}
	}

	/**
	 * Puts other versions in force.
	 * @param versions each record once
	 */
	public synchronized void changed(List<RecordVersion> versions) {
		Map<Boolean, List<RecordVersion>> byPolicy = versions.stream()
			.collect(Collectors.partitioningBy((version) -> version.key().kind() == Kind.POLICY));
		List<RecordVersion> policies = byPolicy.getOrDefault(true, List.of());
		if (!policies.isEmpty()) {
			PolicySetBuilder builder = this.current.get().mutate();
			policies.forEach((version) -> apply(version, () -> applyPolicy(version, builder)));
			this.replace.accept(builder.build());
		}
		Records records = this.current.get().records();
		// In the order in which they were written: two records may be about one caller.
		byPolicy.getOrDefault(false, List.of())
			.stream()
			.sorted(Comparator.comparingLong(RecordVersion::revision))
			.forEach((version) -> apply(version, () -> applyRecord(version, records)));
	}

	private void apply(RecordVersion version, Runnable effect) {
		try {
			effect.run();
			this.rejected.remove(version.key());
		}
		catch (InvalidChangeException ex) {
			reject(version, ex.problem() + " " + ex.fix());
		}
		catch (RuntimeException ex) {
			reject(version, String.valueOf(ex.getMessage()));
		}
	}

	private void applyPolicy(RecordVersion version, PolicySetBuilder policies) {
		String id = version.key().id();
		if (version.deleted()) {
			putConfigured(id, this.configuration, policies);
			return;
		}
		try {
			put(version, policies);
		}
		catch (RuntimeException ex) {
			if (!isWritten(this.current.get().find(id))) {
				putOlder(version, policies);
			}
			throw ex;
		}
	}

	private void put(RecordVersion version, PolicySetBuilder policies) {
		String id = version.key().id();
		Documents.PolicyText text = Documents.policy(version.body());
		Documents.Previous previous = text.previous();
		List<String> changed = new ArrayList<>();
		Policy policy = this.reader.policy(id, version.version(), this.reader.upgrade(text.document(), changed::add));
		policies.put(policy,
				(previous != null)
						? this.reader.policy(id, previous.version(),
								this.reader.upgrade(previous.document(), (field) -> changed.add("previous." + field)))
						: null);
		if (!changed.isEmpty()) {
			logger.warn("Version {} of policy '{}' is of an earlier release. It is in force, but these fields are left "
					+ "out or read differently: {}. Write the policy anew without them or with other values "
					+ "(docs/control-plane.md)", version.version(), id, String.join(", ", changed));
		}
	}

	/** After a start nothing is known of a policy but its newest version. */
	private void putOlder(RecordVersion rejected, PolicySetBuilder policies) {
		for (RecordVersion older : this.history.apply(rejected.key())) {
			if (older.version() < rejected.version()) {
				if (older.deleted()) {
					return;
				}
				try {
					put(older, policies);
					return;
				}
				catch (RuntimeException ex) {
					logger.debug("An older version cannot be meant either", ex);
				}
			}
		}
	}

	private void applyRecord(RecordVersion version, Records records) {
		switch (version.key().kind()) {
			case OVERRIDE -> applyOverride(version, records);
			case TENANT -> applyTightening(version, records);
			case TIER -> applyTier(version, records);
			case ALLOW, DENY -> applyEntry(version, records);
			case POLICY -> throw new IllegalArgumentException("a policy is no record about a caller");
		}
	}

	private void applyOverride(RecordVersion version, Records records) {
		List<String> parts = RecordIds.parts(version.key(), 3);
		Dimension dimension = this.reader.dimension("dimension", parts.get(1));
		if (version.deleted()) {
			records.removeOverride(parts.get(0), dimension, parts.get(2));
		}
		else {
			records.putOverride(parts.get(0), dimension, parts.get(2),
					this.reader.override(Documents.parse(version.body())), version.revision());
		}
	}

	private void applyTightening(RecordVersion version, Records records) {
		List<String> parts = RecordIds.parts(version.key(), 3);
		if (version.deleted()) {
			records.removeTightening(parts.get(0), parts.get(2));
		}
		else {
			records.putTightening(parts.get(0), parts.get(2), this.reader.override(Documents.parse(version.body())));
		}
	}

	private void applyTier(RecordVersion version, Records records) {
		List<String> parts = RecordIds.parts(version.key(), 2);
		Dimension dimension = this.reader.dimension("dimension", parts.get(0));
		if (version.deleted()) {
			records.removeTier(dimension, parts.get(1));
		}
		else {
			records.putTier(dimension, parts.get(1), this.reader.tier(Documents.parse(version.body())),
					version.revision());
		}
	}

	private void applyEntry(RecordVersion version, Records records) {
		boolean allow = version.key().kind() == Kind.ALLOW;
		Map<Dimension, String> entry = entry(version.key());
		if (version.deleted()) {
			if (allow) {
				records.removeAllowed(entry);
			}
			else {
				records.removeDenied(entry);
			}
			return;
		}
		this.reader.requireEntry(version.key().kind(), entry);
		if (allow) {
			records.addAllowed(entry);
		}
		else {
			records.addDenied(entry);
		}
	}

	private Map<Dimension, String> entry(RecordKey key) {
		return RecordIds.entry(key)
			.entrySet()
			.stream()
			.collect(Collectors.toMap((part) -> this.reader.dimension("entry", part.getKey()), Map.Entry::getValue));
	}

	/**
	 * Records other than policies are named by callers, so the log does not name them.
	 */
	private void reject(RecordVersion version, String message) {
		this.rejected.put(version.key(), new Rejected(version.key(), version.version(), message));
		if (version.key().kind() == Kind.POLICY) {
			logger.warn("Version {} of policy '{}' is in the store but not in force; what was before it stays. {}",
					version.version(), version.key().id(), message);
		}
		else {
			logger.warn("Version {} of a {} is in the store but not in force; what was before it stays. The actuator "
					+ "endpoint 'ratelimit' shows it under policies", version.version(), version.key());
		}
	}

}
