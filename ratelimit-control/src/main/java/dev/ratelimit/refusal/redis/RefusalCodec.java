package dev.ratelimit.refusal.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Quota;
import dev.ratelimit.refusal.RefusalContext;
import dev.ratelimit.refusal.QuotaState;
import dev.ratelimit.refusal.Refusal;

/**
 * The text of a refusal in Redis: a fixed number of lines, empty where there is no value,
 * then one line per dimension of the caller. The time is a field of its own. An invalid
 * text is skipped.
 */
final class RefusalCodec {

	/** Changes with the lines. */
	private static final String FORMAT = "1";

	/**
	 * The same lines, of a request that was admitted before. Rare, so that an earlier
	 * release can read almost all refusals.
	 */
	private static final String REPLAY_FORMAT = "2";

	private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

	private RefusalCodec() {
	}

	static String encode(Refusal refusal) {
		Refusal.Verdict verdict = refusal.verdict();
		RefusalContext context = refusal.context();
		List<Object> lines = new ArrayList<>(32);
		lines.addAll(Arrays.asList(verdict.replay() ? REPLAY_FORMAT : FORMAT, refusal.instance(), refusal.traceId(),
				refusal.repeated(), refusal.lasted().toMillis()));
		lines.addAll(Arrays.asList(verdict.policy(), verdict.version(), verdict.outcome(), verdict.reason(),
				verdict.source(), verdict.shadow(), verdict.mode(), verdict.cost(), verdict.node()));
		lines.addAll(Arrays.asList(String.join(" ", context.breakersOpen()), context.newestVersion(),
				context.rolloutPercent(), context.changed(), context.changedAgo().toMillis()));
		QuotaState quota = verdict.quota();
		lines.addAll((quota == null) ? Arrays.asList("", "", "", "", "", "")
				: Arrays.asList(quota.limit(), String.join(" ", quota.by()), quota.quota(), quota.remaining(),
						quota.resetAfter().toMillis(), quota.retryAfter().toMillis()));
		StringBuilder text = new StringBuilder(320);
		lines.forEach((line) -> text.append((line != null) ? clean(line.toString()) : "").append('\n'));
		refusal.caller()
			.forEach((dimension, name) -> text.append(dimension).append(' ').append(clean(name)).append('\n'));
		return text.toString();
	}

	/** Reads a refusal; {@code null} for an invalid text. */
	static @Nullable Refusal decode(String time, String text) {
		try {
			Iterator<String> lines = text.lines().iterator();
			String format = lines.next();
			boolean replay = REPLAY_FORMAT.equals(format);
			return (replay || FORMAT.equals(format)) ? decode(Instant.ofEpochMilli(Long.parseLong(time)), replay, lines)
					: null;
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	private static Refusal decode(Instant time, boolean replay, Iterator<String> lines) {
		String instance = lines.next();
		String traceId = optional(lines.next());
		long repeated = number(lines);
		Duration lasted = millis(lines);
		String policy = lines.next();
		long version = number(lines);
		Decision.Outcome outcome = Decision.Outcome.valueOf(lines.next());
		Decision.Reason reason = Decision.Reason.valueOf(lines.next());
		Decision.Source source = Decision.Source.valueOf(lines.next());
		boolean shadow = Boolean.parseBoolean(lines.next());
		String mode = optional(lines.next());
		long cost = number(lines);
		String node = optional(lines.next());
		RefusalContext context = new RefusalContext(list(lines.next()), number(lines), (int) number(lines),
				optional(lines.next()), millis(lines));
		Refusal.Verdict verdict = new Refusal.Verdict(policy, version, outcome, reason, source, shadow,
				(mode != null) ? FailureMode.valueOf(mode) : null, cost, quota(lines), node, replay);
		Map<String, String> caller = new TreeMap<>();
		lines.forEachRemaining((line) -> {
			int space = line.indexOf(' ');
			caller.put(line.substring(0, space), line.substring(space + 1));
		});
		return new Refusal(time, instance, caller, verdict, context, traceId, repeated, lasted);
	}

	private static @Nullable QuotaState quota(Iterator<String> lines) {
		String limit = lines.next();
		if (limit.isEmpty()) {
			for (int i = 0; i < 5; i++) {
				lines.next();
			}
			return null;
		}
		return new QuotaState(limit, list(lines.next()), Quota.parse(lines.next()), number(lines), millis(lines),
				millis(lines));
	}

	private static long number(Iterator<String> lines) {
		return Long.parseLong(lines.next());
	}

	private static Duration millis(Iterator<String> lines) {
		return Duration.ofMillis(number(lines));
	}

	private static List<String> list(String text) {
		return text.isEmpty() ? List.of() : List.of(text.split(" "));
	}

	private static @Nullable String optional(String text) {
		return text.isEmpty() ? null : text;
	}

	/** The name of a route may contain line breaks. */
	private static String clean(String text) {
		return CONTROL.matcher(text).replaceAll(" ");
	}

}
