package dev.ratelimit.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.context.annotation.Configurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import dev.ratelimit.Request;
import dev.ratelimit.actuate.RateLimitHealthAutoConfiguration;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.RedisServer;

/**
 * Applications in this JVM that share a Redis, each with all that policies are limited,
 * changed and seen by.
 */
final class ApplicationFleet implements AutoCloseable {

	private static final Class<?>[] CONFIGURATIONS = Configurations
		.getClasses(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitMetricsAutoConfiguration.class, RateLimitHealthAutoConfiguration.class));

	private final RedisServer redis;

	private final List<AnnotationConfigApplicationContext> applications = new ArrayList<>();

	private final List<Policies> policies = new ArrayList<>();

	/**
	 * A fleet that shares a Redis; it has no instance yet.
	 */
	ApplicationFleet(RedisServer redis) {
		this.redis = redis;
	}

	/**
	 * Starts instances until there are so many. A start is over when all that the store
	 * has is in force.
	 */
	void growTo(int size) {
		while (this.applications.size() < size) {
			AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
			this.applications.add(application);
			TestPropertyValues
				.of("spring.data.redis.host=" + this.redis.host(), "spring.data.redis.port=" + this.redis.port())
				.applyTo(application);
			application.registerBean(SimpleMeterRegistry.class);
			application.register(CONFIGURATIONS);
			application.refresh();
			this.policies.add(application.getBean(Policies.class));
		}
	}

	AnnotationConfigApplicationContext get(int number) {
		return this.applications.get(number);
	}

	ControlPlane control(int number) {
		return get(number).getBean(ControlPlane.class);
	}

	/** Whether all instances, also the last, go by policies that are like this. */
	boolean all(Predicate<PolicySet> condition) {
		return this.policies.stream().allMatch((policies) -> condition.test(policies.get()));
	}

	/** Whether all instances give the caller this quota. */
	boolean enforces(Request request, long permits) {
		return all((policies) -> {
			Match match = policies.match(request);
			return match != null && match.specs().get(0).limit().quotas().get(0).permits() == permits;
		});
	}

	@Override
	public void close() {
		this.applications.forEach(AnnotationConfigApplicationContext::close);
	}

}
