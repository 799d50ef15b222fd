package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;

import org.springframework.beans.factory.ObjectProvider;

import dev.ratelimit.Policy;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.refusal.RefusalContext;

/**
 * What may explain the refusals of a policy: open breakers, a rollout, a recent change.
 */
record LiveRefusalContext(Policies policies, ObjectProvider<Nodes> nodes, RecentChanges changes,
		InstantSource clock) implements Function<String, RefusalContext> {

	@Override
	public RefusalContext apply(String id) {
		Policy newest = this.policies.get().find(id);
		RecentChanges.Change change = this.changes.of(id);
		Duration ago = (change != null) ? Duration.between(change.time(), this.clock.instant()) : Duration.ZERO;
		return new RefusalContext(breakersOpen(), (newest != null) ? newest.version() : 0,
				(newest != null) ? newest.settings().rollout().percent() : 100, (change != null) ? change.what() : null,
				ago.isNegative() ? Duration.ZERO : ago);
	}

	private List<String> breakersOpen() {
		Nodes nodes = this.nodes.getIfAvailable();
		return (nodes == null) ? List.of()
				: nodes.states()
					.entrySet()
					.stream()
					.filter((node) -> node.getValue() != BreakerState.CLOSED)
					.map((node) -> node.getKey())
					.toList();
	}

}
