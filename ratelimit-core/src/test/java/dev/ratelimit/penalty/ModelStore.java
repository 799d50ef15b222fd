package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;

/**
 * The steps of {@code penalty.lua} in virtual time. The list of bans is not kept.
 */
final class ModelStore implements PenaltyStore {

	private static final long GRACE = Penalty.GRACE.toNanos() / 1_000;

	private final Map<String, long[]> states = new HashMap<>();

	private final List<Listener> listeners = new ArrayList<>();

	private final LongSupplier micros;

	/** Reports so far. */
	int reports;

	ModelStore(LongSupplier micros) {
		this.micros = micros;
	}

	@Override
	public CompletionStage<List<@Nullable Verdict>> report(List<Report> reports) {
		List<@Nullable Verdict> verdicts = new ArrayList<>();
		this.reports += reports.size();
		reports.forEach((report) -> verdicts.add(add(report)));
		return CompletableFuture.completedStage(verdicts);
	}

	private Verdict add(Report report) {
		long now = this.micros.getAsLong();
		Penalty terms = report.terms();
		// First refusal, end, offences, last offence, end of the cool-down and of the
		// ban.
		long[] state = this.states.computeIfAbsent(report.caller().key(), (key) -> new long[6]);
		PenaltyListener.Kind began = null;
		if (now - state[3] >= micros(terms.max())) {
			state[2] = 0;
		}
		if (state[5] <= now) {
			long more = report.offences();
			long when = now - report.age();
			if (report.count() > 0) {
				if (report.time() < state[0] || report.time() >= state[1]) {
					state[0] = report.time();
					state[1] = report.end();
				}
				else {
					if (report.time() - state[0] >= GRACE) {
						more += report.count();
						when = now;
					}
					state[1] = Math.max(state[1], report.end());
				}
			}
			if (more > 0) {
				long before = state[2];
				state[2] += more;
				state[3] = Math.max(state[3], when);
				long level = state[2] / terms.after();
				if (terms.bansAt(state[2])) {
					state[5] = when + micros(terms.banFor());
					state[2] = 0;
					state[4] = 0;
					began = PenaltyListener.Kind.BAN;
				}
				else if (level > before / terms.after()) {
					state[4] = Math.max(state[4], when + micros(terms.coolDownAt(level * terms.after())));
					began = PenaltyListener.Kind.COOL_DOWN;
					long left = state[4] - now;
					this.listeners
						.forEach((listener) -> listener.coolDown(report.caller(), Duration.ofNanos(left * 1_000)));
				}
			}
		}
		return new Verdict(state[2], (state[2] > 0) ? now - state[3] : 0, Math.max(0, state[4] - now),
				Math.max(0, state[5] - now), began);
	}

	long offences(String key) {
		long[] state = this.states.get(key);
		return (state != null) ? state[2] : 0;
	}

	@Override
	public CompletionStage<Listed> list(Ban ban, long known) {
		this.listeners.forEach((listener) -> listener.ban(0, ban.caller(), ban.left()));
		return CompletableFuture.completedStage(new Listed(Listed.Outcome.LISTED, 0));
	}

	@Override
	public CompletionStage<Void> lift(CallerKey caller) {
		this.states.remove(caller.key());
		this.listeners.forEach((listener) -> listener.ban(0, caller, Duration.ZERO));
		return CompletableFuture.completedStage(null);
	}

	@Override
	public CompletionStage<Long> revision() {
		return CompletableFuture.completedStage(0L);
	}

	@Override
	public CompletionStage<Bans> bans() {
		return CompletableFuture.completedStage(new Bans(0, List.of(), Duration.ZERO));
	}

	@Override
	public void listen(Listener listener) {
		this.listeners.add(listener);
	}

	private static long micros(Duration duration) {
		return duration.toNanos() / 1_000;
	}

}
