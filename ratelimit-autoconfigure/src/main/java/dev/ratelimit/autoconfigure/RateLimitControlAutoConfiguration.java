package dev.ratelimit.autoconfigure;

import java.time.InstantSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.ReplicaListener;

/**
 * Policies that are edited at run time, where there is a store for them.
 */
@AutoConfiguration(after = RateLimitStoreAutoConfiguration.class)
@ConditionalOnBean({ Policies.class, PolicyStore.class })
public final class RateLimitControlAutoConfiguration {

	/**
	 * Started with its bean: routes and annotations are checked when all beans are there,
	 * and may name what only the store knows.
	 */
	@Bean(initMethod = "start", destroyMethod = "close")
	StoreFollower rateLimitStoreFollower(PolicyStore store, ObjectProvider<StoreName> name, LivePolicies live,
			RateLimitProperties properties, Fleet fleet, Environment environment,
			ObjectProvider<ReplicaListener> listeners) {
		String named = name.stream().map(StoreName::text).findFirst().orElse("");
		return new StoreFollower(store, live,
				SnapshotPath.of(properties.policiesStore().snapshotFile(), environment, named, properties.keyPrefix()),
				fleet, listeners.orderedStream().toList());
	}

	@Bean
	StoreStart rateLimitStoreStart(StoreFollower follower, UnknownPolicies unknown, RateLimitProperties properties,
			LivePolicies live, ObjectProvider<PolicyUses> uses) {
		return new StoreStart(follower.replica(), unknown, properties.policiesStore(),
				() -> live.requireFitting(PolicyUses.all(uses.orderedStream().toList()::stream)));
	}

	@Bean
	@ConditionalOnMissingBean
	ControlPlane rateLimitControlPlane(PolicyStore store, StoreFollower follower, LivePolicies live,
			RecordReader reader, ObjectProvider<PolicyUses> uses) {
		return new ControlPlane(store, follower.replica(), live, reader, PolicyUses.all(uses::orderedStream));
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	RolloutLeader rateLimitRolloutLeader(PolicyStore store, ControlPlane control, LivePolicies live, Fleet fleet,
			ObjectProvider<RolloutListener> listeners) {
		return new RolloutLeader(store, control, live, fleet.instance(), listeners.orderedStream().toList(),
				InstantSource.system());
	}

}
