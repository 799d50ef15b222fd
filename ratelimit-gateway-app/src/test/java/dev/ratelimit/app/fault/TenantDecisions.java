package dev.ratelimit.app.fault;

import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

/** Every decision with its tenant, for cases in which it matters whom a fault befell. */
final class TenantDecisions implements DecisionListener {

	private final Queue<Made> made = new ConcurrentLinkedQueue<>();

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		this.made.add(new Made(decision.policy(), request.dimensions().getOrDefault(Dimension.TENANT, ""),
				System.nanoTime(), decision.reason(), decision.allowed(), decision.degraded()));
	}

	void forget() {
		this.made.clear();
	}

	List<Made> of(String tenant) {
		return of(List.of(tenant));
	}

	List<Made> of(Collection<String> tenants) {
		return this.made.stream().filter((made) -> tenants.contains(made.tenant())).toList();
	}

	/** A decision and when it was made, in {@link System#nanoTime()}. */
	record Made(String policy, String tenant, long nanos, Decision.Reason reason, boolean allowed, boolean degraded) {

		/** Whether Redis let it pass, and so has counted it. */
		boolean granted() {
			return this.allowed && !this.degraded;
		}

		boolean refused() {
			return !this.allowed && !this.degraded;
		}

	}

}
