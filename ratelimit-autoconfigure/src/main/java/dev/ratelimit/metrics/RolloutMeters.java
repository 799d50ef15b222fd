package dev.ratelimit.metrics;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntSupplier;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.control.RolloutState.Judgement;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaListener;

/**
 * Counts automatic rollbacks of policy versions, on the instance that made them, and
 * shows on every instance which rollouts cannot be judged, how many are under way and
 * whether this instance leads them. The counter exists with the policy and the gauge from
 * its first edit until the policy is deleted, so that a step from 0 to 1 is seen.
 */
final class RolloutMeters implements RolloutListener, ReplicaListener {

	private final MeterRegistry registry;

	private final Function<String, @Nullable RolloutState> states;

	/**
	 * @param states rollouts by policy
	 * @param active number of rollouts that are under way
	 * @param leads whether this instance leads them
	 */
	RolloutMeters(MeterRegistry registry, Function<String, @Nullable RolloutState> states, IntSupplier active,
			BooleanSupplier leads) {
		this.registry = registry;
		this.states = states;
		Gauge.builder(MeterNames.ROLLOUT_ACTIVE, active::getAsInt)
			.description("Rollouts with stages that are under way")
			.register(registry);
		Gauge.builder(MeterNames.ROLLOUT_LEADER, () -> leads.getAsBoolean() ? 1 : 0)
			.description("Whether this instance leads the rollouts that are under way")
			.register(registry);
	}

	@Override
	public void changed(RolloutListener.Event event) {
		if (event.rolledBack()) {
			rollbacks(event.policy()).increment();
		}
	}

	@Override
	public void changed(List<RecordVersion> versions) {
		for (RecordVersion version : versions) {
			if (version.key().kind() != RecordKey.Kind.POLICY) {
				continue;
			}
			if (version.deleted()) {
				this.registry.find(MeterNames.ROLLOUT_WAITING)
					.tag("policy", version.key().id())
					.gauges()
					.forEach(this.registry::remove);
			}
			else {
				rollbacks(version.key().id());
				waiting(version.key().id(), Judgement.TOO_FEW_CALLERS);
				waiting(version.key().id(), Judgement.WINDOWS_TOO_LONG);
			}
		}
	}

	private Counter rollbacks(String policy) {
		return rollbacks(this.registry, policy);
	}

	/** The counter of a policy, registered at 0. */
	static Counter rollbacks(MeterRegistry registry, String policy) {
		return Counter.builder(MeterNames.ROLLBACKS)
			.description("Versions that were rolled back because they refused too much")
			.tag("policy", policy)
			.register(registry);
	}

	private void waiting(String policy, Judgement reason) {
		if (this.registry.find(MeterNames.ROLLOUT_WAITING)
			.tags("policy", policy, "reason", reason.text())
			.gauge() == null) {
			Gauge.builder(MeterNames.ROLLOUT_WAITING, () -> isWaiting(policy, reason) ? 1 : 0)
				.description("Whether a rollout cannot be judged and does not go on by itself")
				.tag("policy", policy)
				.tag("reason", reason.text())
				.register(this.registry);
		}
	}

	private boolean isWaiting(String policy, Judgement reason) {
		RolloutState state = this.states.apply(policy);
		return state != null && state.nextAt() != null && state.judgement() == reason;
	}

}
