package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Rollout;
import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.RolloutJudge;

/**
 * The next step of a rollout. Every stage is a version, so it began when the version was
 * written: there is no other state, and another leader can continue at any time.
 *
 * @param percent share of callers after the step
 * @param reason for the history and the audit trail
 */
record RolloutStep(Kind kind, int percent, String reason) {

	private static final int ALL = 100;

	/** Fields of a rollout, in {@link FieldNames#uniform uniform} spelling. */
	private static final Set<String> KNOWN = Set.of("percent", "validfrom", "stages", "hold", "expectrefusals");

	/** Chance alone does not exceed this, however often the counts are judged. */
	private static final double SIGMAS_AT_ONCE = 5;

	/**
	 * The step that is due.
	 * @param since time of the version
	 * @param counts decisions since then, {@code null} if there is only one version
	 */
	static RolloutStep of(Rollout rollout, Instant since, @Nullable RolloutCounts counts, Instant now) {
		RolloutJudge.Verdict verdict = (counts != null) ? verdict(counts, rollout, start(rollout, since), now)
				: RolloutJudge.Verdict.KEEP;
		if (counts != null && verdict == RolloutJudge.Verdict.ROLL_BACK) {
			return new RolloutStep(Kind.ROLL_BACK, 0,
					"rolled back at " + rollout.percent() + " %: " + text(counts.buckets(), rollout));
		}
		int due = rollout.percentAt(since, now);
		return (due > rollout.percent() && verdict != RolloutJudge.Verdict.TOO_FEW)
				? new RolloutStep(Kind.ADVANCE, due, "stage " + due + " % after " + text(rollout.hold()))
				: new RolloutStep(Kind.STAY, rollout.percent(), "");
	}

	/** Start of a stage: not before the version is valid. */
	static Instant start(Rollout rollout, Instant since) {
		Instant validFrom = rollout.validFrom();
		return (validFrom != null && validFrom.isAfter(since)) ? validFrom : since;
	}

	/** A new document at its first stage: with stages, 100 % is the end. */
	static Map<String, Object> begun(Map<String, Object> document, Rollout rollout) {
		boolean begins = !rollout.stages().isEmpty() && rollout.percent() == ALL;
		return begins ? with(document, rollout, rollout.firstPercent(), rollout.validFrom()) : document;
	}

	/** A document at another stage; the stage before has passed its start time. */
	static Map<String, Object> at(int percent, Map<String, Object> document, Rollout rollout) {
		return with(document, rollout, percent, null);
	}

	private static Map<String, Object> with(Map<String, Object> document, Rollout rollout, int percent,
			@Nullable Instant validFrom) {
		Map<String, Object> changed = new LinkedHashMap<>(document);
		changed.keySet().removeIf((field) -> FieldNames.uniform(field).equals("rollout"));
		Map<String, Object> fields = unknown(document);
		if (percent < ALL) {
			fields.put("percent", percent);
			fields.put("stages", rollout.stages());
			fields.put("hold", text(rollout.hold()));
			if (rollout.expectRefusals() > 0) {
				fields.put("expect-refusals", rollout.expectRefusals());
			}
		}
		if (validFrom != null) {
			fields.put("valid-from", validFrom.toString());
		}
		if (!fields.isEmpty()) {
			changed.put("rollout", fields);
		}
		return changed;
	}

	/** Fields of the rollout that a newer release wrote: they stay in every version. */
	private static Map<String, Object> unknown(Map<String, Object> document) {
		Map<String, Object> fields = new LinkedHashMap<>();
		document.forEach((name, value) -> {
			if (FieldNames.uniform(name).equals("rollout") && value instanceof Map<?, ?> rollout) {
				rollout.forEach((field, content) -> fields.put(String.valueOf(field), content));
			}
		});
		fields.keySet().removeIf((field) -> KNOWN.contains(FieldNames.uniform(field)));
		return fields;
	}

	private static RolloutJudge.Verdict verdict(RolloutCounts counts, Rollout rollout, Instant start, Instant now) {
		return RolloutJudge.judge(counts.buckets(), sigmas(rollout, start, now),
				rollout.expectRefusals() / (double) ALL);
	}

	/**
	 * The counts are judged every second, and chance alone exceeds the bound now and
	 * then. So the bound starts high and falls to its value at the end of the hold (the
	 * bound of O'Brien and Fleming for repeated tests). A last stage below 100 % has no
	 * end: after its hold the bound is high.
	 */
	private static double sigmas(Rollout rollout, Instant start, Instant now) {
		double passed = Math.max(1, Duration.between(start, now).toMillis());
		double part = passed / rollout.hold().toMillis();
		boolean last = rollout.stages().stream().allMatch((stage) -> stage <= rollout.percent());
		return (part > 1 && last) ? SIGMAS_AT_ONCE
				: Math.min(RolloutJudge.SIGMAS / Math.sqrt(Math.min(1, part)), SIGMAS_AT_ONCE);
	}

	private static String text(List<BucketTally> buckets, Rollout rollout) {
		BucketTally all = RolloutJudge.sum(buckets);
		return String.format(Locale.ROOT,
				"refuses %.1f percentage points more than the version before%s (of %d requests that both decided, "
						+ "only the new one refused %d, only the old one %d)",
				100 * RolloutJudge.difference(buckets),
				(rollout.expectRefusals() > 0) ? ", expected were " + rollout.expectRefusals() : "", all.decisions(),
				all.onlyNewRefused(), all.onlyOldRefused());
	}

	private static String text(Duration time) {
		long millis = time.toMillis();
		return (time.toNanos() % 1_000_000 != 0) ? time.toNanos() + "ns" : (millis % 1_000 != 0) ? millis + "ms"
				: (millis % 60_000 != 0) ? millis / 1_000 + "s" : millis / 60_000 + "m";
	}

	enum Kind {

		STAY, ADVANCE, ROLL_BACK

	}

}
