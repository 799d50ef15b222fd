package dev.ratelimit.policy;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;

/**
 * What an entry of a list says about one dimension: an exact value, a text with {@code *}
 * for any characters, or a range of IPs. No regular expressions: a match takes at most
 * (value × pattern) steps, whatever a caller sends.
 */
record ValuePattern(@Nullable String exact, @Nullable String wildcard, IpAddress.@Nullable Range range) {

	static ValuePattern of(Dimension dimension, String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException("the value of '" + dimension + "' is empty");
		}
		if (dimension.equals(Dimension.IP)) {
			return new ValuePattern(null, null, IpAddress.Range.parse(text));
		}
		return (text.indexOf('*') >= 0) ? new ValuePattern(null, text, null) : new ValuePattern(text, null, null);
	}

	/**
	 * What a value has to begin with, if that is all that is said; else {@code null}.
	 */
	@Nullable String prefix() {
		int end = (this.wildcard != null) ? this.wildcard.length() - 1 : -1;
		return (this.wildcard != null && this.wildcard.indexOf('*') == end) ? this.wildcard.substring(0, end) : null;
	}

	boolean matches(@Nullable String value) {
		if (value == null) {
			return false;
		}
		if (this.range != null) {
			IpAddress address = IpAddress.parse(value);
			return address != null && this.range.contains(address);
		}
		return (this.wildcard != null) ? matches(this.wildcard, value) : value.equals(this.exact);
	}

	private static boolean matches(String pattern, String value) {
		int p = 0;
		int v = 0;
		int star = -1;
		int resume = 0;
		while (v < value.length()) {
			if (p < pattern.length() && pattern.charAt(p) == '*') {
				star = p++;
				resume = v;
			}
			else if (p < pattern.length() && pattern.charAt(p) == value.charAt(v)) {
				p++;
				v++;
			}
			else if (star >= 0) {
				p = star + 1;
				v = ++resume;
			}
			else {
				return false;
			}
		}
		while (p < pattern.length() && pattern.charAt(p) == '*') {
			p++;
		}
		return p == pattern.length();
	}

}
