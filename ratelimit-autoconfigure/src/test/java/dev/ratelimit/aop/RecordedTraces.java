package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;

/**
 * One trace for all calls, which remembers what it was told and by which observation it
 * was found.
 */
class RecordedTraces implements CallTrace.Source {

	private final List<String> told = new CopyOnWriteArrayList<>();

	@Override
	public CallTrace find(@Nullable Object observation) {
		return new CallTrace() {

			@Override
			public void decided(Decision decision) {
				RecordedTraces.this.told
					.add(decision.policy() + " " + decision.outcome().text() + " by " + observation);
			}

			@Override
			public String id() {
				return "trace-1";
			}

		};
	}

	List<String> told() {
		return this.told;
	}

}
