package dev.ratelimit.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.Policy;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.penalty.PenaltyListener;
import dev.ratelimit.refusal.RefusalRecorder;
import dev.ratelimit.store.PolicyStore;

/**
 * Meters, where there is a registry. The limiter finds the listener although this comes
 * after it: listeners are looked up when the limiter is created, and conditions are
 * decided before that.
 */
@AutoConfiguration(
		after = { RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class,
				RateLimitRefusalsAutoConfiguration.class },
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBean(Policies.class)
public final class RateLimitMetricsAutoConfiguration {

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	MeterListener rateLimitMeterListener(MeterRegistry registry, Policies policies,
			@Qualifier("rateLimitStandInPolicy") ObjectProvider<Policy> standIn, Counters counters) {
		return new MeterListener(registry, policies, standIn.stream().toList(), counters.source());
	}

	@Bean
	InstanceMeters rateLimitInstanceMeters(MeterRegistry registry, Fleet fleet, ModeSwitch modeSwitch,
			HotCounters hot) {
		return new InstanceMeters(registry, fleet, modeSwitch, hot);
	}

	@Bean
	@ConditionalOnMissingBean(PenaltyListener.class)
	PenaltyMeters rateLimitPenaltyMeters(MeterRegistry registry, ObjectProvider<Penalties> penalties) {
		return new PenaltyMeters(registry, () -> penalties.stream().mapToInt(Penalties::banned).sum());
	}

	@Bean
	RolloutMeters rateLimitRolloutMeters(MeterRegistry registry, ObjectProvider<RolloutLeader> leader) {
		return new RolloutMeters(registry, (policy) -> leader.getObject().state(policy),
				() -> leader.stream().mapToInt(RolloutLeader::active).sum(),
				() -> leader.stream().anyMatch(RolloutLeader::leads));
	}

	@Bean
	NodeMeters rateLimitNodeMeters(MeterRegistry registry) {
		return new NodeMeters(registry, System::nanoTime);
	}

	@Bean
	LeaseMeters rateLimitLeaseMeters(MeterRegistry registry) {
		return new LeaseMeters(registry);
	}

	@Bean
	@ConditionalOnBean(PolicyStore.class)
	StoreMeters rateLimitStoreMeters(MeterRegistry registry, ObjectProvider<ControlPlane> control,
			ObjectProvider<LivePolicies> live) {
		return new StoreMeters(registry, () -> control.getObject().state(), () -> live.getObject().rejected().size());
	}

	/** Refusals that the history does not have. */
	@Bean
	@ConditionalOnBean(RefusalRecorder.class)
	FunctionCounter rateLimitRefusalsMissing(MeterRegistry registry, RefusalRecorder recorder) {
		return FunctionCounter.builder(MeterNames.REFUSALS_MISSING, recorder, RefusalRecorder::missing)
			.description("Refusals that are not in the history one by one")
			.register(registry);
	}

}
