package dev.ratelimit.autoconfigure;

import java.time.Clock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.store.FleetSums;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.ReplicaListener;

/**
 * Policies that are edited at run time, where there is a store for them.
 */
@AutoConfiguration(after = RateLimitStoreAutoConfiguration.class)
@ConditionalOnBean({ Policies.class, PolicyStore.class })
public class RateLimitControlAutoConfiguration {

	/**
	 * Started with its bean: routes and annotations are checked when all beans are there,
	 * and may name what only the store knows.
	 */
	@Bean(initMethod = "start", destroyMethod = "close")
	StoreFollower rateLimitStoreFollower(PolicyStore store, LivePolicies live, RateLimitProperties properties,
			Fleet fleet, ObjectProvider<ReplicaListener> listeners) {
		return new StoreFollower(store, live, properties.policiesStore().snapshotFile(), fleet,
				listeners.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	ControlPlane rateLimitControlPlane(PolicyStore store, StoreFollower follower, LivePolicies live,
			RecordReader reader, ObjectProvider<PolicyUses> uses) {
		return new ControlPlane(store, follower.replica(), live, reader,
				(policy) -> uses.orderedStream().flatMap((places) -> places.of(policy).stream()).toList());
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	RolloutLeader rateLimitRolloutLeader(PolicyStore store, ControlPlane control, LivePolicies live,
			ObjectProvider<FleetSums> sums, Fleet fleet, ObjectProvider<RolloutListener> listeners) {
		return new RolloutLeader(store, control, live, sums.getIfAvailable(), fleet.instance(), Clock.systemUTC(),
				listeners.orderedStream().toList());
	}

}
