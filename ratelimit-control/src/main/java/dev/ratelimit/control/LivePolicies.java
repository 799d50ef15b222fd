package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

import dev.ratelimit.Policy;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.PolicySetBuilder;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Puts the records of the store in force on this instance: policies by the swap of a
 * whole snapshot, records about callers one by one. A policy of the store replaces the
 * configured policy of the same id until it is deleted.
 *
 * <p>
 * An invalid version in the store does no harm: the version before it stays in force, and
 * the endpoint shows it as rejected.
 */
public final class LivePolicies {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final Supplier<PolicySet> current;

	private final Consumer<PolicySet> replace;

	private final RecordReader reader;

	private final Function<RecordKey, List<RecordVersion>> history;

	private volatile Configuration configuration;

	private final RejectedVersions rejected = new RejectedVersions();

	/** Configured policies whose windows do not fit beside the records of the store. */
	private final Map<String, Rejected> unfit = new ConcurrentHashMap<>();

	private final RecordEffects effects;

	private volatile PolicyUses uses = (policy) -> List.of();

	/**
	 * Begins with the configured policies.
	 * @param replace puts another snapshot in force
	 * @param history versions of a record, the newest first; empty if there is no answer
	 */
	public LivePolicies(Supplier<PolicySet> current, Consumer<PolicySet> replace, RecordReader reader,
			Function<RecordKey, List<RecordVersion>> history) {
		this.history = history;
		this.current = current;
		this.replace = replace;
		this.reader = reader;
		this.effects = new RecordEffects(reader);
		this.configuration = Configuration.of(current.get());
	}

	/**
	 * From now on a version only comes into force if it can decide for all that names its
	 * policy here: an instance that does not have the place may have accepted it. What is
	 * in force already stays; the start checks it.
	 */
	public synchronized void requireFitting(PolicyUses uses) {
		this.uses = uses;
	}

	/**
	 * Changes what names policies. No policy comes into force meanwhile, so that the
	 * change and a policy cannot both be checked against the state before the other.
	 */
	public synchronized void changeUses(Runnable change) {
		change.run();
	}

	public PolicySet current() {
		return this.current.get();
	}

	public @Nullable Policy configured(String id) {
		return this.configuration.policies().get(id);
	}

	/**
	 * Versions that are in the store or in the configuration but not in force.
	 */
	public List<Rejected> rejected() {
		return Stream.concat(this.rejected.all().stream(), configuration().rejected().stream()).toList();
	}

	/**
	 * The configuration, with all of its entries that are not in force.
	 */
	public Configuration configuration() {
		Configuration now = this.configuration;
		return new Configuration(now.policies(), now.allow(), now.deny(),
				Stream.concat(now.rejected().stream(), this.unfit.values().stream()).toList());
	}

	/**
	 * Replaces the configuration in one step. Policies of the store stay in force.
	 * @param next makes the new configuration from the one before; runs under the lock,
	 * so that of two calls at once the later one wins
	 */
	public synchronized void configure(UnaryOperator<Configuration> next) {
		Configuration before = configuration();
		Configuration after = next.apply(before);
		PolicySet current = this.current.get();
		Set<String> retired = current.retired();
		PolicySetBuilder policies = current.mutate().lists(after.allow(), after.deny());
		Set<String> ids = new HashSet<>(before.policies().keySet());
		ids.addAll(after.policies().keySet());
		ids.stream()
			.filter((id) -> retired.contains(id) || this.unfit.containsKey(id) || !isWritten(current.find(id)))
			.forEach((id) -> putConfigured(id, after, policies));
		this.configuration = after;
		this.replace.accept(policies.build());
		// What names a policy may have changed with the configuration.
		ids.addAll(this.rejected.policies());
		retry(ids);
	}

	private static boolean isWritten(@Nullable Policy policy) {
		return policy != null && policy.version() > 0;
	}

	/** A policy that is gone still decides requests that name it. */
	private void putConfigured(String id, Configuration configuration, PolicySetBuilder policies) {
		Policy policy = configuration.policies().get(id);
		if (policy == null) {
			policies.retire(id);
			this.unfit.remove(id);
			return;
		}
		try {
			fitting(policy);
			policies.put(policy);
			if (this.unfit.remove(id) != null) {
				logger.info("Policy '{}' of the configuration is in force now: it fits the overrides that were written "
						+ "for it, and what names it", id);
			}
		}
		catch (Misfit ex) {
			reject(new Rejected(RecordIds.policy(id), 0, String.valueOf(ex.getMessage())));
		}
		catch (IllegalArgumentException ex) {
			reject(new Rejected(RecordIds.policy(id), 0, ex.getMessage()
					+ ". Change the windows of the policy or of the overrides that were written for it."));
		}
	}

	private void reject(Rejected rejected) {
		String id = rejected.key().id();
		if (!rejected.equals(this.unfit.put(id, rejected))) {
			logger.warn("Policy '{}' of the configuration is not put in force; the version before it stays. {}", id,
					rejected.message());
		}
	}

	private Policy fitting(Policy policy) {
		try {
			this.uses.requireFitting(policy);
			return policy;
		}
		catch (InvalidChangeException ex) {
			throw new Misfit(ex);
		}
	}

	/** Tries again what did not fit beside other records of these policies. */
	private void retry(Set<String> ids) {
		this.rejected.retry(ids, this::apply);
		List<String> unfit = ids.stream().filter(this.unfit::containsKey).toList();
		if (unfit.isEmpty()) {
			return;
		}
		PolicySetBuilder policies = this.current.get().mutate();
		unfit.forEach((id) -> putConfigured(id, this.configuration, policies));
		this.replace.accept(policies.build());
		this.rejected.retry(ids, this::apply);
	}

	/**
	 * Puts versions in force.
	 * @param versions each record once
	 */
	public synchronized void changed(List<RecordVersion> versions) {
		Map<Boolean, List<RecordVersion>> byPolicy = versions.stream()
			.collect(Collectors.partitioningBy((version) -> version.key().kind() == Kind.POLICY));
		List<RecordVersion> policies = byPolicy.getOrDefault(true, List.of());
		if (!policies.isEmpty()) {
			PolicySetBuilder builder = this.current.get().mutate();
			policies.forEach((version) -> this.rejected.apply(version, (policy) -> applyPolicy(policy, builder)));
			this.replace.accept(builder.build());
		}
		// In the order in which they were written: two records may be about one caller.
		byPolicy.getOrDefault(false, List.of())
			.stream()
			.sorted(Comparator.comparingLong(RecordVersion::revision))
			.forEach((version) -> this.rejected.apply(version, this::apply));
		retry(versions.stream()
			.map(RecordVersion::key)
			.map(RejectedVersions::policyOf)
			.filter(Objects::nonNull)
			.collect(Collectors.toSet()));
	}

	private void apply(RecordVersion version) {
		if (version.key().kind() != Kind.POLICY) {
			this.effects.apply(version, this.current.get().records());
			return;
		}
		PolicySetBuilder builder = this.current.get().mutate();
		try {
			applyPolicy(version, builder);
		}
		finally {
			// An older version may be in it although this one is rejected.
			this.replace.accept(builder.build());
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
			this.unfit.remove(id);
		}
		catch (RuntimeException ex) {
			// The history is read once, not at each retry.
			if (!isWritten(this.current.get().find(id)) && !this.rejected.contains(version.key())) {
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
		Policy policy = fitting(this.reader.stored(id, version.version(), text.document(), changed::add));
		policies.put(policy, (previous != null) ? fitting(this.reader.stored(id, previous.version(),
				previous.document(), (field) -> changed.add("previous." + field))) : null);
		if (!changed.isEmpty()) {
			logger
				.warn("Version {} of policy '{}' is of another release. It is in force, but these fields are left out "
						+ "or read differently: {}. Upgrade this instance, or write the policy anew without them or with "
						+ "other values (docs/control-plane.md)", version.version(), id, String.join(", ", changed));
		}
	}

	/** After a start only the newest version is known, so older ones are read. */
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
					logger.debug("An older version is not valid either", ex);
				}
			}
		}
	}

	/** A valid policy that cannot decide for what names it here. */
	private static final class Misfit extends IllegalArgumentException {

		Misfit(InvalidChangeException problem) {
			super(problem.problem() + " " + problem.fix(), problem);
		}

	}

}
