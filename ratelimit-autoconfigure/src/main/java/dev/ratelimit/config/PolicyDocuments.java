package dev.ratelimit.config;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

import org.springframework.boot.context.properties.bind.DefaultValue;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads documents as the configuration is read: bound to the same properties and checked
 * by the same mapper.
 */
public final class PolicyDocuments implements RecordReader {

	/**
	 * The records that documents are read into, by reflection.
	 */
	public static Class<?>[] types() {
		return new Class<?>[] { PolicyProperties.class, Quotas.class, Assignment.class };
	}

	private final PolicyMapper mapper;

	public PolicyDocuments(PolicyMapper mapper) {
		this.mapper = mapper;
	}

	@Override
	public Policy policy(String id, long version, Map<String, Object> document) {
		return policy(id, version, DocumentBinder.bind("policy", PolicyProperties.class, document));
	}

	private Policy policy(String id, long version, PolicyProperties properties) {
		Policy policy = this.mapper.map("policy", id, properties);
		return new Policy(id, version, policy.algorithm(), policy.limits(), policy.settings());
	}

	@Override
	public Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed) {
		Map<String, Object> upgraded = EarlierPolicy.upgrade(document, changed);
		for (String field = onceIgnored(upgraded); field != null; field = onceIgnored(upgraded)) {
			upgraded = EarlierPolicy.without(field, upgraded, changed);
		}
		return upgraded;
	}

	@Override
	public Policy stored(String id, long version, Map<String, Object> document, Consumer<String> changed) {
		Map<String, Object> upgraded = upgrade(document, changed);
		return policy(id, version, DocumentBinder.bindKnown("policy", PolicyProperties.class, upgraded, changed));
	}

	/**
	 * The field that makes a policy invalid, {@code null} if none does that an earlier
	 * release accepted with any value, since it ignored all of them.
	 */
	private @Nullable String onceIgnored(Map<String, Object> document) {
		if (EarlierPolicy.ONCE_IGNORED.stream().noneMatch((field) -> EarlierPolicy.has(field, document))) {
			return null;
		}
		try {
			this.mapper.map("policy", "earlier",
					DocumentBinder.bindKnown("policy", PolicyProperties.class, document, (field) -> {
					}));
			return null;
		}
		catch (InvalidPolicyException ex) {
			String invalid = ex.field().toLowerCase(Locale.ROOT) + '.';
			return EarlierPolicy.ONCE_IGNORED.stream()
				.filter((field) -> invalid.startsWith("policy." + field + '.') && EarlierPolicy.has(field, document))
				.findFirst()
				.orElse(null);
		}
	}

	@Override
	public Map<String, List<Quota>> override(Map<String, Object> document) {
		Quotas override = DocumentBinder.bind(DocumentBinder.BODY, Quotas.class, document);
		if (override.limits().isEmpty()) {
			throw new InvalidPolicyException("limits", "The override changes no limit.",
					"Set 'limits', for example {\"per-tenant\": \"20000/s\"}.");
		}
		return this.mapper.quotas("limits", override.limits());
	}

	@Override
	public String tier(Map<String, Object> document) {
		String tier = DocumentBinder.bind(DocumentBinder.BODY, Assignment.class, document).tier();
		if (tier.isBlank()) {
			throw new InvalidPolicyException("tier", "The tier is missing.",
					"Set 'tier' to the name of a tier, for example pro.");
		}
		return tier;
	}

	@Override
	public Dimension dimension(String field, String name) {
		return this.mapper.dimension(field, "A record is about", name);
	}

	/** The message about an address leaves it out, since it may be that of a caller. */
	@Override
	public void requireEntry(Kind list, Map<Dimension, String> entry) {
		String ip = entry.get(Dimension.IP);
		if (ip != null && !IpAddress.Range.isValid(ip)) {
			throw new InvalidPolicyException("entry",
					"The value of 'ip' is neither an IP address nor the first address of a network and its prefix.",
					"Set 'ip' to an address or a network, for example 203.0.113.7 or 10.0.0.0/8.");
		}
		PolicyMapper.requireEntry("entry", list == Kind.DENY, entry);
	}

	@Override
	public List<String> warnings(Policy policy) {
		return this.mapper.warningsOfWritten(policy);
	}

	@Override
	public Map<String, Object> document(Policy policy) {
		return PolicyDocument.of(policy);
	}

	/**
	 * Other quotas for one caller.
	 */
	record Quotas(@DefaultValue Map<String, List<String>> limits) {
	}

	/**
	 * The plan of one caller.
	 */
	record Assignment(@DefaultValue("") String tier) {
	}

}
