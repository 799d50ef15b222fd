package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.springframework.boot.context.properties.bind.DefaultValue;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads documents as the configuration is read: bound to the same properties and checked
 * by the same mapper.
 */
final class PolicyDocuments implements RecordReader {

	private final PolicyMapper mapper;

	PolicyDocuments(PolicyMapper mapper) {
		this.mapper = mapper;
	}

	@Override
	public Policy policy(String id, long version, Map<String, Object> document) {
		return checked(() -> {
			PolicyProperties properties = DocumentBinder.bind("policy", PolicyProperties.class, document);
			Policy policy = this.mapper.map("policy", id, properties);
			return new Policy(id, version, policy.algorithm(), policy.limits(), policy.settings());
		});
	}

	@Override
	public Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed) {
		return EarlierPolicy.upgrade(document, changed);
	}

	@Override
	public Map<String, List<Quota>> override(Map<String, Object> document) {
		return checked(() -> {
			Quotas override = DocumentBinder.bind(DocumentBinder.BODY, Quotas.class, document);
			if (override.limits().isEmpty()) {
				throw new InvalidPolicyException("limits", "The override changes no limit.",
						"Set 'limits', for example {\"per-tenant\": \"20000/s\"}.");
			}
			return this.mapper.quotas("limits", override.limits());
		});
	}

	@Override
	public String tier(Map<String, Object> document) {
		return checked(() -> {
			String tier = DocumentBinder.bind(DocumentBinder.BODY, Assignment.class, document).tier();
			if (tier.isBlank()) {
				throw new InvalidPolicyException("tier", "The tier is missing.",
						"Set 'tier' to the name of a tier, for example pro.");
			}
			return tier;
		});
	}

	@Override
	public Dimension dimension(String field, String name) {
		return checked(() -> this.mapper.dimension(field, "A record is about", name));
	}

	@Override
	public void requireEntry(Kind list, Map<Dimension, String> entry) {
		checked(() -> {
			PolicyMapper.requireEntry("entry", list == Kind.DENY, entry);
			return entry;
		});
	}

	@Override
	public Map<String, Object> document(Policy policy) {
		return PolicyDocument.of(policy);
	}

	private static <T> T checked(Supplier<T> value) {
		try {
			return value.get();
		}
		catch (InvalidPolicyException ex) {
			throw new InvalidChangeException(ex.field(), ex.problem(), ex.fix());
		}
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
