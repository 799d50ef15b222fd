package dev.ratelimit.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.metrics.FixedPolicies;
import dev.ratelimit.metrics.FleetMeters;
import dev.ratelimit.metrics.HotKeyMeters;
import dev.ratelimit.metrics.LeaseMeters;
import dev.ratelimit.metrics.MeterListener;
import dev.ratelimit.metrics.NodeMeters;
import dev.ratelimit.metrics.RolloutMeters;
import dev.ratelimit.metrics.StoreMeters;
import dev.ratelimit.store.PolicyStore;

/**
 * Meters, where there is a registry. The limiter finds the listener although this comes
 * after it: listeners are looked up when the limiter is created, and conditions are
 * decided before that.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class },
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBean(Policies.class)
public class RateLimitMetricsAutoConfiguration {

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	MeterListener rateLimitMeterListener(MeterRegistry registry, Policies policies,
			ObjectProvider<FixedPolicies> fixed) {
		return new MeterListener(registry, policies, fixed.getIfAvailable(() -> FixedPolicies.NONE));
	}

	@Bean
	@ConditionalOnMissingBean
	FleetMeters rateLimitFleetMeters(MeterRegistry registry, Fleet fleet, RedSwitch redSwitch) {
		return new FleetMeters(registry, fleet::size, () -> redSwitch.mode() != null);
	}

	@Bean
	@ConditionalOnMissingBean
	RolloutMeters rateLimitRolloutMeters(MeterRegistry registry) {
		return new RolloutMeters(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	NodeMeters rateLimitNodeMeters(MeterRegistry registry) {
		return new NodeMeters(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	LeaseMeters rateLimitLeaseMeters(MeterRegistry registry) {
		return new LeaseMeters(registry);
	}

	@Bean
	@ConditionalOnMissingBean
	HotKeyMeters rateLimitHotKeyMeters(MeterRegistry registry, HotCounters hot) {
		return new HotKeyMeters(registry, hot);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(PolicyStore.class)
	StoreMeters rateLimitStoreMeters(MeterRegistry registry, ObjectProvider<ControlPlane> control) {
		return new StoreMeters(registry, () -> control.getObject().state());
	}

}
