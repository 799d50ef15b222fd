package dev.ratelimit.grpc;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.config.DimensionMapper;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.Nearest;

/**
 * What the descriptors of one of Envoy's domains mean.
 *
 * @param policy id of the policy that decides, {@code null} if an entry always names it
 * @param policyFrom key of the entry that names the policy, {@code null} if none does
 * @param entries dimensions by the keys of entries
 * @param settle whether explicit hits above 0 are charged without a check
 */
record EnvoyDomain(@Nullable String policy, @Nullable String policyFrom, Map<String, Dimension> entries,
		boolean settle) {

	/** The value of a dimension that an entry is for but does not have. */
	static final String MISSING = "";

	/**
	 * Reads a domain of the configuration.
	 * @param custom names of the custom dimensions of the application
	 * @throws InvalidPolicyException naming the field and the fix
	 */
	static EnvoyDomain of(String name, GrpcProperties.Domain domain, Set<String> custom) {
		String at = "ratelimit.grpc.envoy.domains." + name;
		if (domain.policy().isBlank() && domain.policyFrom().isBlank()) {
			throw new InvalidPolicyException(at, "Domain '" + name + "' of Envoy has no policy.",
					"Set '" + at + ".policy' to the id of a policy, or '" + at
							+ ".policy-from' to the key of the entry that names it.");
		}
		Map<String, Dimension> entries = new LinkedHashMap<>();
		domain.entries()
			.forEach((key, dimension) -> entries.put(key, dimension(at + ".entries." + key, dimension, custom)));
		return new EnvoyDomain(domain.policy().isBlank() ? null : domain.policy(),
				domain.policyFrom().isBlank() ? null : domain.policyFrom(), Map.copyOf(entries), domain.settle());
	}

	/** Limits by an unknown dimension would never be selected. */
	private static Dimension dimension(String at, String name, Set<String> custom) {
		Set<String> known = DimensionMapper.known(custom);
		known.remove(Dimension.REGION.name());
		if (known.contains(name)) {
			return new Dimension(name);
		}
		throw new InvalidPolicyException(at, "'" + at + "' is '" + name + "', which no entry of Envoy can be.",
				"Did you mean '" + Nearest.of(name, known) + "'? Set it to one of: " + String.join(", ", known)
						+ ", or register a DimensionResolver bean named '" + name + "'.");
	}

	/**
	 * The policy that decides a descriptor, {@code null} if no entry names it.
	 */
	@Nullable String policy(RateLimitDescriptor descriptor) {
		for (RateLimitDescriptor.Entry entry : descriptor.getEntriesList()) {
			if (entry.getKey().equals(this.policyFrom) && !entry.getValue().isBlank()) {
				return entry.getValue();
			}
		}
		return this.policy;
	}

	/**
	 * The facts in a descriptor. A dimension whose entry is blank, or is for an address
	 * and has none, is {@link #MISSING}.
	 */
	Map<Dimension, String> facts(RateLimitDescriptor descriptor) {
		Map<Dimension, String> facts = new LinkedHashMap<>();
		for (RateLimitDescriptor.Entry entry : descriptor.getEntriesList()) {
			Dimension dimension = this.entries.get(entry.getKey());
			if (dimension != null) {
				facts.putIfAbsent(dimension, value(dimension, entry.getValue()));
			}
		}
		return facts;
	}

	private static String value(Dimension dimension, String text) {
		if (!dimension.equals(Dimension.IP)) {
			return text.isBlank() ? MISSING : text;
		}
		IpAddress address = IpAddress.parse(literal(text.strip()));
		return (address != null) ? address.toString() : MISSING;
	}

	/** Of a masked address, such as {@code 10.1.0.0/16}, the first address. */
	private static String literal(String text) {
		int slash = text.indexOf('/');
		if (slash < 0) {
			return text;
		}
		try {
			IpAddress.Range.parse(text);
			return text.substring(0, slash);
		}
		catch (IllegalArgumentException ex) {
			return "";
		}
	}

}
