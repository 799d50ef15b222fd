package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * The checks that a message of Envoy asks for. A pure function of the message, the domain
 * and the policies.
 *
 * <p>
 * A descriptor selects every limit whose dimensions it has. Descriptors of one policy
 * whose facts agree are one caller, and so one group. A counter that several descriptors
 * select is charged once, with the largest of their costs. What a group is charged with
 * one cost is one check, all or nothing; checks are ordered by cost, the largest first.
 *
 * @param checks the checks in their order, one for most messages
 * @param descriptors the descriptors in their order
 * @param ignored events to count
 */
record EnvoyPlan(List<Check> checks, List<Selection> descriptors, List<EnvoyEvent> ignored) {

	/** The plan of a message that nothing is known about. */
	static final EnvoyPlan NOTHING = new EnvoyPlan(List.of(), List.of(), List.of());

	/**
	 * The field {@code is_negative_hits} of a descriptor, whether its hits are given
	 * back. It came with https://github.com/envoyproxy/envoy/pull/44059, after the
	 * classes here, whose last field is 3.
	 */
	static final int NEGATIVE_HITS_FIELD = 4;

	/**
	 * Makes the plan.
	 */
	static EnvoyPlan of(RateLimitRequest message, EnvoyDomain domain, PolicySet policies, int ipv6Prefix) {
		return new Planner(domain, policies, ipv6Prefix).plan(message);
	}

	/**
	 * The plan of a message for which no plan could be made: a check for each descriptor,
	 * for the failure modes of their policies to answer.
	 */
	static EnvoyPlan unplanned(RateLimitRequest message, EnvoyDomain domain) {
		List<Check> checks = new ArrayList<>();
		List<Selection> descriptors = new ArrayList<>();
		for (RateLimitDescriptor descriptor : message.getDescriptorsList()) {
			String policy = domain.policy(descriptor);
			if (policy != null) {
				Request request = new Group(policy, domain.facts(descriptor)).request();
				checks.add(new Check(descriptors.size(), request, Kind.CHECK));
			}
			descriptors.add(new Selection(descriptors.size(), List.of()));
		}
		return new EnvoyPlan(checks, descriptors, List.of());
	}

	/**
	 * One request to the limiter.
	 *
	 * @param group whose check it is
	 */
	record Check(int group, Request request, Kind kind) {
	}

	/**
	 * What is done with hits. Give-backs come last: a refused message changes nothing.
	 */
	enum Kind {

		/** They are taken if there are enough. */
		CHECK,

		/** They were used already, and are charged without a check. */
		SETTLE,

		/** They were not used after all. */
		GIVE_BACK

	}

	/**
	 * What a descriptor asks for.
	 *
	 * @param group whose caller it names, -1 if no policy decides it
	 * @param limits the limits that it selects
	 */
	record Selection(int group, List<Selected> limits) {
	}

	/**
	 * A limit that a descriptor selects, by the check that charges its counter.
	 */
	record Selected(int group, long cost, Kind kind, String limit) {

		/** Whether a check of this plan is the one. */
		boolean isOf(Check check) {
			return this.group == check.group() && this.cost == check.request().cost() && this.kind == check.kind();
		}

	}

	/**
	 * A counter: a limit and the values that it counts by. What is taken and what is
	 * given back are apart.
	 */
	private record CounterId(String policy, String limit, List<String> values, boolean givesBack) {
	}

	/** The charge of a counter. */
	private record Charge(int group, long cost, Kind kind) {
	}

	private record Group(String policy, Map<Dimension, String> facts) {

		boolean agrees(String policy, Map<Dimension, String> facts) {
			return policy.equals(this.policy) && facts.entrySet()
				.stream()
				.allMatch((fact) -> this.facts.getOrDefault(fact.getKey(), fact.getValue()).equals(fact.getValue()));
		}

		/** Envoy is trusted: its facts are verified. */
		Request request() {
			Map<Dimension, String> known = new HashMap<>(this.facts);
			known.values().removeIf(EnvoyDomain.MISSING::equals);
			return new Request(this.policy, known, Set.of(), null, 1, 1);
		}

	}

	private record Descriptor(int group, Map<Dimension, String> facts, long cost, Kind kind) {
	}

	private static final class Planner {

		private final EnvoyDomain domain;

		private final PolicySet policies;

		private final int ipv6Prefix;

		private final List<Group> groups = new ArrayList<>();

		private final Map<CounterId, Charge> charges = new LinkedHashMap<>();

		private final List<EnvoyEvent> ignored = new ArrayList<>();

		Planner(EnvoyDomain domain, PolicySet policies, int ipv6Prefix) {
			this.domain = domain;
			this.policies = policies;
			this.ipv6Prefix = ipv6Prefix;
		}

		EnvoyPlan plan(RateLimitRequest message) {
			List<Descriptor> descriptors = new ArrayList<>();
			for (int i = 0; i < message.getDescriptorsCount(); i++) {
				descriptors.add(descriptor(message, i));
			}
			List<List<CounterId>> counters = descriptors.stream().map(this::select).toList();
			List<Selection> selections = new ArrayList<>();
			for (int i = 0; i < descriptors.size(); i++) {
				selections.add(new Selection(descriptors.get(i).group(),
						counters.get(i).stream().map(this::selected).toList()));
			}
			return new EnvoyPlan(checks(), selections, this.ignored);
		}

		private Descriptor descriptor(RateLimitRequest message, int index) {
			RateLimitDescriptor descriptor = message.getDescriptors(index);
			long cost = cost(message, descriptor);
			Kind kind = kind(message, descriptor, cost);
			if (descriptor.hasLimit()) {
				this.ignored.add(EnvoyEvent.LIMIT_OVERRIDE);
			}
			String policy = this.domain.policy(descriptor);
			Map<Dimension, String> facts = this.domain.facts(descriptor);
			if (policy == null) {
				this.ignored.add(EnvoyEvent.NO_POLICY);
				return new Descriptor(-1, facts, cost, kind);
			}
			for (int group = 0; group < this.groups.size(); group++) {
				if (this.groups.get(group).agrees(policy, facts)) {
					this.groups.get(group).facts().putAll(facts);
					return new Descriptor(group, facts, cost, kind);
				}
			}
			this.groups.add(new Group(policy, new LinkedHashMap<>(facts)));
			return new Descriptor(this.groups.size() - 1, facts, cost, kind);
		}

		private Kind kind(RateLimitRequest message, RateLimitDescriptor descriptor, long cost) {
			List<Long> negative = descriptor.getUnknownFields().getField(NEGATIVE_HITS_FIELD).getVarintList();
			if (!negative.isEmpty() && negative.get(negative.size() - 1) != 0) {
				return Kind.GIVE_BACK;
			}
			boolean explicit = descriptor.hasHitsAddend() || message.getHitsAddend() != 0;
			return (this.domain.settle() && explicit && cost > 0) ? Kind.SETTLE : Kind.CHECK;
		}

		/**
		 * Only a descriptor can say 0: unset and 0 are the same in the message. Envoy
		 * sends up to 1,000,000,000, and lets the request pass if that is an error.
		 */
		private static long cost(RateLimitRequest message, RateLimitDescriptor descriptor) {
			long hits = descriptor.hasHitsAddend() ? descriptor.getHitsAddend().getValue()
					: Math.max(1, Integer.toUnsignedLong(message.getHitsAddend()));
			return (Long.compareUnsigned(hits, Quota.MAX_PERMITS) > 0) ? Quota.MAX_PERMITS : hits;
		}

		private List<CounterId> select(Descriptor descriptor) {
			Group group = (descriptor.group() < 0) ? null : this.groups.get(descriptor.group());
			Request request = (group != null) ? group.request() : null;
			Match match = (request != null) ? this.policies.match(request) : null;
			if (group == null || request == null || match == null) {
				return List.of();
			}
			List<CounterId> selected = new ArrayList<>();
			for (CounterSpec spec : match.specs()) {
				Limit limit = spec.limit();
				if (descriptor.facts().keySet().containsAll(limit.by())) {
					if (isSkipped(match, limit, descriptor, request)) {
						this.ignored.add(EnvoyEvent.MISSING_DIMENSION);
						continue;
					}
					CounterId counter = new CounterId(group.policy(), limit.name(), values(limit, descriptor, request),
							descriptor.kind() == Kind.GIVE_BACK);
					this.charges.merge(counter, new Charge(descriptor.group(), descriptor.cost(), descriptor.kind()),
							(one, other) -> (other.cost() > one.cost()) ? other : one);
					selected.add(counter);
				}
			}
			return selected;
		}

		/**
		 * What a counter counts by: the IP where it stands in for a missing dimension.
		 */
		private List<String> values(Limit limit, Descriptor descriptor, Request request) {
			String ip = counted(Dimension.IP, request.dimensions().getOrDefault(Dimension.IP, ""));
			return limit.by().stream().map((by) -> {
				String value = descriptor.facts().getOrDefault(by, EnvoyDomain.MISSING);
				return value.equals(EnvoyDomain.MISSING) ? "missing " + ip : "value " + counted(by, value);
			}).toList();
		}

		private String counted(Dimension dimension, String value) {
			return CallerNames.counted(dimension, value, this.ipv6Prefix);
		}

		/** Envoy's own address never stands in for a missing dimension. */
		private static boolean isSkipped(Match match, Limit limit, Descriptor descriptor, Request request) {
			return match.policy().settings().onMissingIdentity() == MissingIdentity.IP
					&& !request.dimensions().containsKey(Dimension.IP)
					&& limit.by().stream().anyMatch((by) -> EnvoyDomain.MISSING.equals(descriptor.facts().get(by)));
		}

		private Selected selected(CounterId counter) {
			Charge charge = this.charges.get(counter);
			if (charge == null) {
				throw new IllegalStateException("every selected counter is charged");
			}
			return new Selected(charge.group(), charge.cost(), charge.kind(), counter.limit());
		}

		/**
		 * A group that is charged nothing is checked too: the deny-list may name it, or
		 * its policy may not exist.
		 */
		private List<Check> checks() {
			Map<Charge, Set<String>> limits = new LinkedHashMap<>();
			this.charges.forEach((counter, charge) -> limits.computeIfAbsent(charge, (key) -> new LinkedHashSet<>())
				.add(counter.limit()));
			for (int group = 0; group < this.groups.size(); group++) {
				int index = group;
				if (limits.keySet().stream().noneMatch((charge) -> charge.group() == index)) {
					limits.put(new Charge(group, 1, Kind.CHECK), Set.of());
				}
			}
			List<Check> checks = new ArrayList<>();
			limits.forEach((charge, names) -> checks.add(new Check(charge.group(),
					this.groups.get(charge.group()).request().withCost(charge.cost()).only(names), charge.kind())));
			checks.sort(Comparator.comparing((Check check) -> check.kind() == Kind.GIVE_BACK)
				.thenComparing(Comparator.comparingLong((Check check) -> check.request().cost()).reversed()));
			return checks;
		}

	}

}
