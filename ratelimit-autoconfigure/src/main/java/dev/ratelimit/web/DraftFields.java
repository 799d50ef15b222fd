package dev.ratelimit.web;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11. The draft still moves; all that
 * is known of its syntax is in here. Names are quoted without escaping: a limit's name
 * has no character that a structured field would escape.
 */
final class DraftFields {

	/**
	 * By the hash of the policy and its quotas, so that tiers have texts of their own. A
	 * collision only costs making a text again.
	 */
	private final @Nullable PolicyText[] texts = new PolicyText[256];

	void write(Map<String, String> headers, Decision decision, LimitStatus decisive) {
		PolicyText policies = policies(decision.policy(), decision.limits());
		headers.put("RateLimit-Policy", policies.text);
		headers.put("RateLimit", limit(policies.name(decisive), decisive));
	}

	/**
	 * The name of a quota: its limit's name, with the window if the limit has several.
	 */
	static String name(LimitStatus status) {
		String limit = status.limit().name();
		return (status.limit().quotas().size() == 1) ? limit : limit + "-" + Quota.text(status.quota().window());
	}

	/**
	 * Callers with the same quotas share a text. Entries are immutable, so a race between
	 * threads only makes a text twice.
	 */
	private PolicyText policies(String policy, List<LimitStatus> limits) {
		int hash = policy.hashCode();
		for (int i = 0; i < limits.size(); i++) {
			hash = 31 * hash + limits.get(i).quota().hashCode();
		}
		int place = (hash ^ (hash >>> 16)) & (this.texts.length - 1);
		PolicyText known = this.texts[place];
		if (known == null || !known.isFor(limits)) {
			known = PolicyText.of(limits);
			this.texts[place] = known;
		}
		return known;
	}

	/**
	 * Seconds, rounded up, until the next permit, or on refusal until the cost fits,
	 * which may be never.
	 */
	private static String limit(String name, LimitStatus status) {
		String text = "\"" + name + "\";r=" + status.remaining();
		if (status.neverFits()) {
			return text;
		}
		long micros = status.refuses() ? status.retryAfterMicros() : status.nextAfterMicros();
		return text + ";t=" + -Math.floorDiv(-micros, 1_000_000);
	}

	/**
	 * The text of a policy's quotas.
	 *
	 * @param named the quotas with their names, in the order of the limits
	 */
	private record PolicyText(Named[] named, String text) {

		static PolicyText of(List<LimitStatus> limits) {
			Named[] named = new Named[limits.size()];
			StringBuilder text = new StringBuilder(named.length * 32);
			for (int i = 0; i < named.length; i++) {
				LimitStatus status = limits.get(i);
				named[i] = new Named(status.limit(), status.quota(), DraftFields.name(status));
				text.append(text.isEmpty() ? "\"" : ", \"").append(named[i].name);
				text.append("\";q=").append(status.quota().permits());
				text.append(";w=").append(status.quota().window().toSeconds());
			}
			return new PolicyText(named, text.toString());
		}

		boolean isFor(List<LimitStatus> limits) {
			boolean same = this.named.length == limits.size();
			for (int i = 0; same && i < this.named.length; i++) {
				same = this.named[i].isOf(limits.get(i));
			}
			return same;
		}

		String name(LimitStatus status) {
			for (Named next : this.named) {
				if (next.isOf(status)) {
					return next.name;
				}
			}
			return DraftFields.name(status);
		}

	}

	private record Named(Limit limit, Quota quota, String name) {

		/** By identity: a policy keeps its objects until it changes. */
		boolean isOf(LimitStatus status) {
			return this.limit == status.limit() && this.quota == status.quota();
		}

	}

}
