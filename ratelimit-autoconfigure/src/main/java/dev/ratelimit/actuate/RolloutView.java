package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.control.RolloutCounts;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.policy.Tally;

/**
 * A rollout as the endpoint shows it.
 */
final class RolloutView {

	private RolloutView() {
	}

	static Map<String, Object> of(RolloutState state) {
		Map<String, Object> shown = new LinkedHashMap<>();
		shown.put("version", state.version());
		putIfThere(shown, "previous", state.previous());
		shown.put("percent", state.percent());
		if (state.stages() > 0) {
			shown.put("stage", state.stage() + " of " + state.stages());
		}
		shown.put("since", state.since().toString());
		putIfThere(shown, "nextAt", (state.nextAt() != null) ? state.nextAt().toString() : null);
		RolloutCounts counts = state.counts();
		if (counts != null) {
			shown.put("counted", counts.fleet() ? "fleet" : "instance");
			shown.put("newVersion", tally(counts.next()));
			shown.put("previousVersion", tally(counts.previous()));
			shown.put("comparison", comparison(counts));
		}
		return shown;
	}

	private static Map<String, Object> comparison(RolloutCounts counts) {
		Map<String, Object> shown = new LinkedHashMap<>();
		shown.put("bothAllowed", counts.bothAllowed());
		shown.put("bothRefused", counts.bothRefused());
		shown.put("onlyNewRefused", counts.onlyNewRefused());
		shown.put("onlyOldRefused", counts.onlyOldRefused());
		return shown;
	}

	private static Map<String, Object> tally(Tally tally) {
		Map<String, Object> shown = new LinkedHashMap<>();
		shown.put("decisions", tally.decisions());
		shown.put("refusals", tally.refusals());
		return shown;
	}

	private static void putIfThere(Map<String, Object> shown, String name, @Nullable Object value) {
		if (value != null) {
			shown.put(name, value);
		}
	}

}
