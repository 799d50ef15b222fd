package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Request;

/**
 * What callers have in common that one hash table can find: values of the same
 * dimensions, prefixes of the same length, or networks of the same size.
 */
sealed interface KeyForm {

	List<Dimension> dimensions();

	/**
	 * The key of the caller of a request; {@code null} if the caller has none of this
	 * form.
	 */
	@Nullable Object key(Request request, Facts facts);

	/**
	 * Exact values; API keys as digests. The key is the list of values, or the value
	 * itself if there is one, so that its look-up allocates nothing.
	 *
	 * @param dimensions sorted by name
	 */
	record Values(List<Dimension> dimensions) implements KeyForm {

		static Values of(Collection<Dimension> dimensions) {
			return new Values(List.copyOf(dimensions.stream().sorted(Comparator.comparing(Dimension::name)).toList()));
		}

		/** The key of an entry, which may name an API key by its digest. */
		Object key(Map<Dimension, String> values) {
			List<String> key = this.dimensions.stream()
				.map((dimension) -> ApiKeyDigest.said(dimension, values.getOrDefault(dimension, "")))
				.toList();
			return (key.size() == 1) ? key.get(0) : key;
		}

		@Override
		public @Nullable Object key(Request request, Facts facts) {
			if (this.dimensions.size() == 1) {
				return value(request, facts, this.dimensions.get(0));
			}
			List<String> key = new ArrayList<>(this.dimensions.size());
			for (Dimension dimension : this.dimensions) {
				String value = value(request, facts, dimension);
				if (value == null) {
					return null;
				}
				key.add(value);
			}
			return key;
		}

		private static @Nullable String value(Request request, Facts facts, Dimension dimension) {
			String value = facts.get(request, dimension);
			return (value != null) ? ApiKeyDigest.presented(dimension, value) : null;
		}

	}

	/** The first characters of a value, as in {@code sk_revoked_*}. */
	record Prefix(Dimension dimension, int length) implements KeyForm {

		@Override
		public List<Dimension> dimensions() {
			return List.of(this.dimension);
		}

		@Override
		public @Nullable Object key(Request request, Facts facts) {
			String value = facts.get(request, this.dimension);
			return (value != null && value.length() >= this.length) ? value.substring(0, this.length) : null;
		}

	}

	/**
	 * The network of an IP address.
	 *
	 * @param bits length of the address
	 * @param prefix length of the network's prefix
	 */
	record Network(int bits, int prefix) implements KeyForm {

		@Override
		public List<Dimension> dimensions() {
			return List.of(Dimension.IP);
		}

		@Override
		public @Nullable Object key(Request request, Facts facts) {
			String ip = facts.get(request, Dimension.IP);
			return (ip != null) ? key(IpAddress.parse(ip)) : null;
		}

		@Nullable Object key(@Nullable IpAddress ip) {
			return (ip != null && ip.bits() == this.bits) ? ip.network(this.prefix) : null;
		}

	}

}
