package dev.ratelimit.config;

import java.util.List;
import java.util.Set;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import dev.ratelimit.EnumText;
import dev.ratelimit.config.RateLimitProperties.Backend;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore;
import dev.ratelimit.web.CallerSource;

/**
 * Fails the start when the configuration asks for something whose library is missing.
 * Without this check each instance would count for itself, or send no events.
 */
final class RequiredClasses {

	private static final List<String> REDIS = List.of(
			"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
			"io.lettuce.core.RedisClient");

	private static final List<String> BREAKER = List.of("io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry");

	private static final List<String> R2DBC = List.of("io.r2dbc.spi.ConnectionFactory");

	private static final List<String> POOL = List.of("io.r2dbc.pool.ConnectionPool");

	private static final String ADD_REDIS = "Add the dependency org.springframework.boot:spring-boot-starter-data-redis, "
			+ "which brings Spring Data Redis and Lettuce";

	private static final List<String> KAFKA = List.of("org.springframework.kafka.core.ProducerFactory");

	private static final List<String> USERS = List.of("org.springframework.security.core.userdetails.UserDetails");

	private static final List<String> OIDC = List.of("org.springframework.security.oauth2.core.oidc.user.OidcUser");

	private RequiredClasses() {
	}

	static void check(ConfigurableEnvironment environment, ClassLoader classLoader) {
		Binder binder = Binder.get(environment);
		if (binder.bind("ratelimit.backend", Backend.class).orElse(Backend.AUTO) == Backend.REDIS) {
			String fix = ", or set 'ratelimit.backend' to memory.";
			require("'ratelimit.backend' is redis", REDIS, classLoader, ADD_REDIS + fix);
			require("'ratelimit.backend' is redis", BREAKER, classLoader,
					"Add the dependency io.github.resilience4j:resilience4j-circuitbreaker" + fix);
		}
		if (binder.bind("ratelimit.events.enabled", Boolean.class).orElse(false)) {
			require("'ratelimit.events.enabled' is true", KAFKA, classLoader,
					"Add org.springframework.kafka:spring-kafka, or set 'ratelimit.events.enabled' to false.");
		}
		binder.bind("ratelimit.identity.resolvers", Bindable.setOf(CallerSource.class))
			.orElse(Set.of())
			.forEach((source) -> requireResolver(source, classLoader));
		PoliciesStore.Type type = binder.bind("ratelimit.policies-store.type", PoliciesStore.Type.class)
			.orElse(PoliciesStore.Type.AUTO);
		String url = binder.bind("ratelimit.policies-store.redis.url", String.class).orElse("");
		if (type == PoliciesStore.Type.REDIS) {
			require("'ratelimit.policies-store.type' is redis", REDIS, classLoader,
					ADD_REDIS + ", or set 'ratelimit.policies-store.type' to none.");
		}
		else if (type == PoliciesStore.Type.AUTO && StringUtils.hasText(url)) {
			require("'ratelimit.policies-store.redis.url' is set", REDIS, classLoader,
					ADD_REDIS + ", or remove 'ratelimit.policies-store.redis.url'.");
		}
		else if (type == PoliciesStore.Type.R2DBC) {
			require("'ratelimit.policies-store.type' is r2dbc", R2DBC, classLoader,
					"Add the dependencies org.springframework.boot:spring-boot-starter-data-r2dbc and "
							+ "org.postgresql:r2dbc-postgresql, or set 'ratelimit.policies-store.type' to none.");
			require("'ratelimit.policies-store.type' is r2dbc", POOL, classLoader,
					"Add the dependency io.r2dbc:r2dbc-pool, or set 'ratelimit.policies-store.type' to none.");
		}
	}

	private static void requireResolver(CallerSource source, ClassLoader classLoader) {
		String name = EnumText.of(source);
		boolean oidc = source == CallerSource.OIDC;
		require("'ratelimit.identity.resolvers' has " + name, oidc ? OIDC : USERS, classLoader,
				"Add the dependency org.springframework.boot:spring-boot-starter-"
						+ (oidc ? "oauth2-client" : "security") + ", or remove " + name
						+ " from 'ratelimit.identity.resolvers'.");
	}

	private static void require(String why, List<String> classes, ClassLoader classLoader, String fix) {
		for (String name : classes) {
			if (!ClassUtils.isPresent(name, classLoader)) {
				throw new InvalidPolicyException(why + ", but the class " + name + " is not on the class path.", fix);
			}
		}
	}

}
