package dev.ratelimit.web.tracing;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.web.CallTrace;

/**
 * Notes decisions in the traces of calls, where calls are traced. Without a tracer the
 * events would not be visible, yet the observation would count each kind of them.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ ObservationRegistry.class, Tracer.class })
@ConditionalOnBean(Policies.class)
public final class RateLimitTracingAutoConfiguration {

	/** By providers: Boot's own configurations of tracers may come later. */
	@Bean
	@ConditionalOnMissingBean
	CallTrace.Source rateLimitCallTraces(ObjectProvider<ObservationRegistry> observations,
			ObjectProvider<Tracer> tracers) {
		ObservationRegistry registry = observations.getIfUnique();
		Tracer tracer = tracers.getIfUnique();
		boolean traced = registry != null && !registry.isNoop() && tracer != null && tracer != Tracer.NOOP;
		return traced ? new ObservedCalls(registry) : CallTrace.Source.NONE;
	}

}
