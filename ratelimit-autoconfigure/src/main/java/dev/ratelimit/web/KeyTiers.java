package dev.ratelimit.web;

import java.util.Comparator;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.util.PatternMatchUtils;

import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

/**
 * Plans of verified API keys by pattern. The longest pattern wins; of two with the same
 * length, the first in the order of their texts.
 */
final class KeyTiers {

	private final List<Map.Entry<String, String>> longestFirst;

	KeyTiers(Map<String, String> tiers) {
		this.longestFirst = tiers.entrySet()
			.stream()
			.sorted(Comparator.comparingInt((Map.Entry<String, String> entry) -> -entry.getKey().length())
				.thenComparing(Map.Entry.comparingByKey()))
			.toList();
	}

	/**
	 * The owner of a key, with the plan of the key if it has none of its own.
	 * @param verified {@code null} if the key is unknown
	 */
	@Nullable VerifiedKey complete(String key, @Nullable VerifiedKey verified) {
		if (verified == null || Identity.text(verified.tier()) != null) {
			return verified;
		}
		for (Map.Entry<String, String> entry : this.longestFirst) {
			if (PatternMatchUtils.simpleMatch(entry.getKey(), key)) {
				return new VerifiedKey(verified.tenant(), entry.getValue());
			}
		}
		return verified;
	}

}
