package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;

import org.springframework.beans.factory.ObjectProvider;

import dev.ratelimit.Policy;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.refusal.Circumstances;

/**
 * What is going on about a policy: breakers that are open, a rollout, a recent change.
 */
final class RefusalCircumstances implements Function<String, Circumstances> {

	private final Policies policies;

	private final ObjectProvider<Nodes> nodes;

	private final RecentChanges changes;

	private final InstantSource clock;

	RefusalCircumstances(Policies policies, ObjectProvider<Nodes> nodes, RecentChanges changes, InstantSource clock) {
		this.policies = policies;
		this.nodes = nodes;
		this.changes = changes;
		this.clock = clock;
	}

	@Override
	public Circumstances apply(String id) {
		Policy newest = this.policies.get().find(id);
		RecentChanges.Change change = this.changes.of(id);
		Duration ago = (change != null) ? Duration.between(change.time(), this.clock.instant()) : Duration.ZERO;
		return new Circumstances(breakersOpen(), (newest != null) ? newest.version() : 0,
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
