package dev.ratelimit.control;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Ids of records: {@code orders/tenant/acme} for an override, {@code tenant/acme} for a
 * tier and {@code tenant=acme&user=ann} for an entry of a list, which has no other
 * content. An exact API key is replaced by its digest.
 */
public final class RecordIds {

	private RecordIds() {
	}

	public static RecordKey policy(String id) {
		return new RecordKey(Kind.POLICY, id);
	}

	public static RecordKey override(String policy, Dimension dimension, String value) {
		return new RecordKey(Kind.OVERRIDE,
				policy + '/' + dimension.name() + '/' + ApiKeyDigest.said(dimension, value));
	}

	/**
	 * The tighter quotas that a tenant chose itself.
	 */
	public static RecordKey tightening(String policy, String tenant) {
		return new RecordKey(Kind.TENANT, policy + '/' + Dimension.TENANT.name() + '/' + tenant);
	}

	public static RecordKey tier(Dimension dimension, String value) {
		return new RecordKey(Kind.TIER, dimension.name() + '/' + ApiKeyDigest.said(dimension, value));
	}

	/**
	 * An entry of a list.
	 * @param list {@link Kind#ALLOW} or {@link Kind#DENY}
	 */
	public static RecordKey entry(Kind list, Map<Dimension, String> entry) {
		StringBuilder id = new StringBuilder();
		Map<String, String> sorted = new TreeMap<>();
		entry.forEach((dimension, value) -> sorted.put(dimension.name(),
				(value.indexOf('*') >= 0) ? value : ApiKeyDigest.said(dimension, value)));
		sorted.forEach(
				(name, value) -> id.append(id.isEmpty() ? "" : "&").append(name).append('=').append(escape(value)));
		return new RecordKey(list, id.toString());
	}

	/**
	 * The key with digests: an early release wrote API keys themselves.
	 */
	public static RecordKey today(RecordKey key) {
		if (!key.id().contains(Dimension.API_KEY.name())) {
			return key;
		}
		try {
			return switch (key.kind()) {
				case OVERRIDE -> {
					List<String> parts = parts(key, 3);
					yield override(parts.get(0), new Dimension(parts.get(1)), parts.get(2));
				}
				case TIER -> tier(new Dimension(parts(key, 2).get(0)), parts(key, 2).get(1));
				case ALLOW, DENY -> {
					Map<Dimension, String> entry = new HashMap<>();
					entry(key).forEach((name, value) -> entry.put(new Dimension(name), value));
					yield entry(key.kind(), entry);
				}
				case POLICY, TENANT, UNKNOWN -> key;
			};
		}
		catch (IllegalArgumentException ex) {
			return key;
		}
	}

	/** The parts of the id of an override or a tier; only the last may have slashes. */
	static List<String> parts(RecordKey key, int count) {
		List<String> parts = List.of(key.id().split("/", count));
		if (parts.size() < count) {
			throw new IllegalArgumentException("a " + key + " is named by " + count + " parts with slashes in between");
		}
		return parts;
	}

	/**
	 * The values of an entry of a list, by dimension.
	 */
	public static Map<String, String> entry(RecordKey key) {
		Map<String, String> entry = new LinkedHashMap<>();
		for (String part : key.id().split("&", -1)) {
			int equals = part.indexOf('=');
			if (equals < 1) {
				throw new IllegalArgumentException("an entry is named by dimension=value");
			}
			entry.put(part.substring(0, equals), unescape(part.substring(equals + 1)));
		}
		return entry;
	}

	/**
	 * Describes a record without naming a caller.
	 */
	public static String subject(RecordKey key) {
		String kind = key.kind().text();
		return switch (key.kind()) {
			case POLICY -> kind + ' ' + key.id();
			case OVERRIDE, TENANT -> kind + " of " + parts(key, 3).get(0) + " by " + parts(key, 3).get(1);
			case TIER -> kind + " by " + parts(key, 2).get(0);
			case ALLOW, DENY -> kind + " by " + String.join(", ", entry(key).keySet());
			case UNKNOWN -> kind;
		};
	}

	private static String escape(String value) {
		return value.replace("%", "%25").replace("&", "%26");
	}

	private static String unescape(String text) {
		return text.replace("%26", "&").replace("%25", "%");
	}

}
