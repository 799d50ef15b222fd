package dev.ratelimit.policy;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;

/**
 * Pattern of a list entry for one dimension: an exact value, a text in which {@code *}
 * matches any characters, or an IP range. Not a regular expression: a match takes at most
 * (length of value × length of pattern) steps for any input.
 */
record ValuePattern(String text, IpAddress.@Nullable Range range) {

	static ValuePattern of(Dimension dimension, String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException("the value of '" + dimension + "' is empty");
		}
		// A range has several spellings, which are all equal.
		return dimension.equals(Dimension.IP) ? new ValuePattern("", IpAddress.Range.parse(text))
				: new ValuePattern(text, null);
	}

	boolean isExact() {
		return this.range == null && this.text.indexOf('*') < 0;
	}

	/**
	 * The prefix, if the pattern is a prefix followed by a single {@code *}; else
	 * {@code null}.
	 */
	@Nullable String prefix() {
		int end = this.text.length() - 1;
		return (this.range == null && this.text.indexOf('*') == end) ? this.text.substring(0, end) : null;
	}

	boolean matches(@Nullable String value) {
		if (value == null || this.range == null) {
			return value != null && matches(this.text, value);
		}
		IpAddress address = IpAddress.parse(value);
		return address != null && this.range.contains(address);
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
