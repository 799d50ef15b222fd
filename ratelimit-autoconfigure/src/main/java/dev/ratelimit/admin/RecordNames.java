package dev.ratelimit.admin;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Sha256;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.json.Json;
import dev.ratelimit.store.RecordKey;

/**
 * Names of records in the audit trail: kind and id, with API keys as digests, and values
 * of hashed dimensions as pseudonyms. A network of addresses is named as it is: it is no
 * caller.
 */
public final class RecordNames {

	private final Pseudonyms pseudonyms;

	private final Set<Dimension> hashed;

	private final int ipv6Prefix;

	public RecordNames(Pseudonyms pseudonyms, Set<Dimension> hashed, int ipv6Prefix) {
		this.pseudonyms = pseudonyms;
		this.hashed = Set.copyOf(hashed);
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * Such as {@code override orders/tenant/acme}. If there is no pseudonym yet, because
	 * the salt is not known, the value is left out.
	 */
	public String of(RecordKey written) {
		RecordKey key = RecordIds.today(written);
		String kind = key.kind().text() + ' ';
		try {
			return switch (key.kind()) {
				case OVERRIDE, TENANT -> {
					List<String> parts = List.of(key.id().split("/", 3));
					yield kind + parts.get(0) + '/' + parts.get(1) + '/' + value(parts.get(1), parts.get(2));
				}
				case TIER -> {
					List<String> parts = List.of(key.id().split("/", 2));
					yield kind + parts.get(0) + '/' + value(parts.get(0), parts.get(1));
				}
				case ALLOW,
						DENY ->
					kind + RecordIds.entry(key)
						.entrySet()
						.stream()
						.map((entry) -> entry.getKey() + '=' + value(entry.getKey(), entry.getValue()))
						.collect(Collectors.joining("&"));
				case POLICY, UNKNOWN -> kind + key.id();
			};
		}
		catch (RuntimeException ex) {
			return RecordIds.subject(key);
		}
	}

	private String value(String name, String value) {
		Dimension dimension = new Dimension(name);
		if (!this.hashed.contains(dimension) && !dimension.equals(Dimension.IP)) {
			return value;
		}
		String caller = dimension.equals(Dimension.IP) ? address(value) : value;
		return (caller != null) ? this.pseudonyms.of(dimension, CallerNames.counted(dimension, caller, this.ipv6Prefix))
				: value;
	}

	/** The address of one caller, {@code null} if it is a network of several. */
	private @Nullable String address(String value) {
		IpAddress.Range range = IpAddress.Range.parse(value);
		// An IPv4 address may be written as an IPv6 one.
		boolean four = range.network().toString().indexOf(':') < 0;
		int caller = four ? Integer.SIZE : this.ipv6Prefix;
		return (range.prefix() >= caller) ? range.network().toString() : null;
	}

	/**
	 * Names the records of an import by a digest of all names and contents, in their
	 * order.
	 */
	String digest(List<Change> page) {
		StringBuilder text = new StringBuilder();
		for (Change change : page) {
			String content = (change.document() != null) ? Json.write(change.document()) : "deleted";
			text.append(of(change.key())).append('\n').append(content).append('\n');
		}
		return "sha256:" + Sha256.hex(text.toString());
	}

}
