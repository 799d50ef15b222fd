package dev.ratelimit.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads policies and lists from the environment once more. Unlike at the start nothing
 * fails: an invalid policy or list keeps its last good version, and the rest is read.
 */
final class ConfigurationReader {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final ConfigurationPropertyName POLICIES = ConfigurationPropertyName.of("ratelimit.policies");

	private static final Bindable<List<Map<String, String>>> ENTRIES = Bindable.of(ResolvableType
		.forClassWithGenerics(List.class, ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)));

	/** Longest id that is shown. */
	private static final int MAX_ID = 63;

	private final PolicyMapper mapper;

	private final Environment environment;

	private final PropertyCheck check;

	private final PolicyUses uses;

	ConfigurationReader(PolicyMapper mapper, Environment environment, PropertyCheck check, PolicyUses uses) {
		this.uses = uses;
		this.mapper = mapper;
		this.environment = environment;
		this.check = check;
	}

	/**
	 * Reads the whole configuration.
	 * @param last the one in force, which keeps the place of what is not valid
	 */
	Configuration read(Configuration last) {
		Binder binder = Binder.get(this.environment);
		List<Rejected> rejected = new ArrayList<>();
		OneByOne handler = new OneByOne();
		List<InvalidPolicyException> elsewhere = new ArrayList<>();
		this.check.mistakes((warning) -> logger.debug(warning)).forEach((mistake) -> {
			String id = mistake.policy();
			if (id != null) {
				handler.problems.put(id, mistake.problem());
			}
			else {
				elsewhere.add(mistake.problem());
			}
		});
		Map<String, Policy> policies = policies(binder, handler, last, rejected);
		if (!elsewhere.isEmpty()) {
			// One of them may be the name of a list, which would be empty without it.
			keepLists(elsewhere, rejected);
			return new Configuration(policies, last.allow(), last.deny(), rejected);
		}
		AccessList allow = list(binder, Kind.ALLOW, last.allow(), rejected);
		AccessList deny = list(binder, Kind.DENY, last.deny(), rejected);
		return new Configuration(policies, allow, deny, rejected);
	}

	private static void keepLists(List<InvalidPolicyException> mistakes, List<Rejected> rejected) {
		InvalidPolicyException all = PropertyCheck.all(mistakes);
		logger.warn("'ratelimit.allow' and 'ratelimit.deny' are not reloaded; the previous lists stay in force. {}",
				all.getMessage());
		for (Kind kind : List.of(Kind.ALLOW, Kind.DENY)) {
			rejected.add(rejected(kind, "ratelimit." + kind.text(), all));
		}
	}

	private Map<String, Policy> policies(Binder binder, OneByOne handler, Configuration last, List<Rejected> rejected) {
		Map<String, PolicyProperties> all = checked(POLICIES.toString(),
				() -> binder.bind(POLICIES, Bindable.mapOf(String.class, PolicyProperties.class), handler)
					.orElseGet(Map::of),
				(problem) -> {
					logger.warn("'{}' is not reloaded; the previous policies stay in force. {}", POLICIES,
							problem.getMessage());
					rejected.add(rejected(Kind.POLICY, POLICIES.toString(), problem));
				});
		if (all == null) {
			return last.policies();
		}
		Map<String, Policy> policies = new HashMap<>();
		all.forEach((id, properties) -> {
			if (handler.problems.containsKey(id)) {
				return;
			}
			String at = POLICIES + "." + id;
			Policy policy = checked(at, () -> fitting(this.mapper.map(at, id, properties)),
					(problem) -> handler.problems.put(id, problem));
			if (policy != null) {
				policies.put(id, policy);
			}
		});
		handler.problems.forEach((id, problem) -> {
			Policy known = last.policies().get(id);
			if (known != null) {
				policies.put(id, known);
			}
			logger.warn("Policy '{}' of the configuration is not reloaded; {}. {}", id,
					(known != null) ? "the previous one stays in force" : "there is no previous one",
					problem.getMessage());
			rejected.add(rejected(Kind.POLICY, id, problem));
		});
		return policies;
	}

	List<String> warnings(Policy policy) {
		return this.mapper.warnings(policy);
	}

	private Policy fitting(Policy policy) {
		this.uses.requireFitting(policy);
		return policy;
	}

	/**
	 * Reads one list. Its entries name callers, so the log only says where the mistake
	 * is.
	 */
	private AccessList list(Binder binder, Kind kind, AccessList last, List<Rejected> rejected) {
		String name = "ratelimit." + kind.text();
		AccessList list = checked(name,
				() -> this.mapper.list(name, kind == Kind.DENY, binder.bind(name, ENTRIES).orElseGet(List::of)),
				(problem) -> {
					logger.warn("'{}' is not reloaded; the previous list stays in force. {}", problem.field(),
							problem.fix());
					rejected.add(rejected(kind, name, problem));
				});
		return (list != null) ? list : last;
	}

	private static Rejected rejected(Kind kind, String id, InvalidPolicyException problem) {
		String shown = id.isBlank() ? POLICIES.toString() : id.substring(0, Math.min(id.length(), MAX_ID));
		return new Rejected(new RecordKey(kind, shown), 0, problem.problem() + " " + problem.fix());
	}

	private static <T> @Nullable T checked(String at, Supplier<T> value, Consumer<InvalidPolicyException> problem) {
		try {
			return value.get();
		}
		catch (RuntimeException ex) {
			problem.accept(problem(at, ex));
			return null;
		}
	}

	private static InvalidPolicyException problem(String at, Exception failure) {
		if (failure instanceof InvalidPolicyException ex && !ex.field().isEmpty()) {
			return ex;
		}
		return (failure instanceof BindException ex) ? DocumentBinder.failure(ex)
				: new InvalidPolicyException(at, "'" + at + "' is not valid: " + failure.getMessage() + ".",
						"Correct '" + at + "'; docs/configuration.md lists its fields and their ranges.");
	}

	/**
	 * Leaves out a policy that cannot be bound, and continues with the next.
	 */
	private static final class OneByOne extends AbstractBindHandler {

		private final Map<String, InvalidPolicyException> problems = new TreeMap<>();

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			if (!POLICIES.isParentOf(name)) {
				throw error;
			}
			this.problems.put(name.getLastElement(Form.ORIGINAL), problem(name.toString(), error));
			return null;
		}

	}

}
