package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Rollout;
import dev.ratelimit.policy.RolloutJudge;
import dev.ratelimit.policy.Tally;

/**
 * What is to be done about a rollout. Every stage is a version of its own, so when it
 * began is when that was written: nothing has to be remembered, and whoever leads next
 * goes on where the last one was.
 *
 * @param kind what to do
 * @param percent the share of the callers from now on
 * @param reason why, as the history and the audit trail have it
 */
record RolloutStep(Kind kind, int percent, String reason) {

	private static final int ALL = 100;

	/** Beyond this no chance goes, however often somebody looks. */
	private static final double SIGMAS_AT_ONCE = 5;

	/**
	 * What is to be done.
	 * @param since when the version was written
	 * @param counts what both versions decided since then, {@code null} if there is only
	 * one
	 */
	static RolloutStep of(Rollout rollout, Instant since, @Nullable RolloutCounts counts, Instant now) {
		if (counts != null && isWorse(counts, rollout, start(rollout, since), now)) {
			return new RolloutStep(Kind.ROLL_BACK, 0,
					String.format(Locale.ROOT, "rolled back at %d %%: refuses %s, the version before %s",
							rollout.percent(), text(counts.next()), text(counts.previous())));
		}
		int due = rollout.percentAt(since, now);
		return (due > rollout.percent())
				? new RolloutStep(Kind.ADVANCE, due, "stage " + due + " % after " + text(rollout.hold()))
				: new RolloutStep(Kind.STAY, rollout.percent(), "");
	}

	/**
	 * When a stage begins: not before the version is valid.
	 */
	static Instant start(Rollout rollout, Instant since) {
		Instant validFrom = rollout.validFrom();
		return (validFrom != null && validFrom.isAfter(since)) ? validFrom : since;
	}

	/**
	 * A document as it is written first: with stages for everybody means for everybody in
	 * the end.
	 */
	static Map<String, Object> begun(Map<String, Object> document, Rollout rollout) {
		boolean begins = !rollout.stages().isEmpty() && rollout.percent() == ALL;
		return begins ? with(document, rollout, rollout.firstPercent(), rollout.validFrom()) : document;
	}

	/**
	 * A document at another stage. With the last one it is over; that its time has come
	 * was seen by the stage before.
	 */
	static Map<String, Object> at(int percent, Map<String, Object> document, Rollout rollout) {
		return with(document, rollout, percent, null);
	}

	private static Map<String, Object> with(Map<String, Object> document, Rollout rollout, int percent,
			@Nullable Instant validFrom) {
		Map<String, Object> changed = new LinkedHashMap<>(document);
		changed.keySet().removeIf((field) -> FieldNames.uniform(field).equals("rollout"));
		Map<String, Object> fields = new LinkedHashMap<>();
		if (percent < ALL) {
			fields.put("percent", percent);
			fields.put("stages", rollout.stages());
			fields.put("hold", text(rollout.hold()));
		}
		if (validFrom != null) {
			fields.put("valid-from", validFrom.toString());
		}
		if (!fields.isEmpty()) {
			changed.put("rollout", fields);
		}
		return changed;
	}

	private static boolean isWorse(RolloutCounts counts, Rollout rollout, Instant start, Instant now) {
		return RolloutJudge.judge(counts.previous(), counts.next(),
				sigmas(rollout, start, now)) == RolloutJudge.Verdict.ROLL_BACK;
	}

	/**
	 * The judge is asked every second, and of a hundred looks at mere chance some go
	 * beyond two standard deviations. So it takes more of them at first, and two when the
	 * hold is over (O'Brien and Fleming's bound for a test that is looked at on the way).
	 * A last stage that is not for everybody has no end: after its hold it takes many.
	 */
	private static double sigmas(Rollout rollout, Instant start, Instant now) {
		double passed = Math.max(1, Duration.between(start, now).toMillis());
		double part = passed / rollout.hold().toMillis();
		boolean last = rollout.stages().stream().allMatch((stage) -> stage <= rollout.percent());
		return (part > 1 && last) ? SIGMAS_AT_ONCE
				: Math.min(RolloutJudge.SIGMAS / Math.sqrt(Math.min(1, part)), SIGMAS_AT_ONCE);
	}

	private static String text(Tally tally) {
		return String.format(Locale.ROOT, "%.1f %% of %d", 100 * tally.rate(), tally.decisions());
	}

	private static String text(Duration time) {
		long millis = time.toMillis();
		return (time.toNanos() % 1_000_000 != 0) ? time.toNanos() + "ns" : (millis % 1_000 != 0) ? millis + "ms"
				: (millis % 60_000 != 0) ? millis / 1_000 + "s" : millis / 60_000 + "m";
	}

	/**
	 * What to do.
	 */
	enum Kind {

		/** Nothing yet. */
		STAY,

		/** Go on to the next stage. */
		ADVANCE,

		/** Go back to the version before. */
		ROLL_BACK

	}

}
