package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.RateLimitProperties;

/**
 * What a native image cannot find by itself: scripts, tables of the SQL store, and the
 * classes that properties and documents are read into by reflection.
 */
final class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

	private static final String ENDPOINT = "dev.ratelimit.actuate.RateLimitEndpoint";

	private static final String STAND_IN = "dev.ratelimit.gateway.DistributedRateLimiter$Config";

	private static final String GATEWAY_ON_WEBMVC = "org.springframework.cloud.gateway.server.mvc.filter.FilterSupplier";

	private static final String ROUTE_FILTERS = "dev.ratelimit.gateway.RateLimitFilterFunctions";

	private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("META-INF/ratelimit/*.lua")
			.registerPattern("META-INF/ratelimit/sql/*.sql")
			.registerPattern("META-INF/spring-configuration-metadata.json");
		this.bindings.registerReflectionHints(hints.reflection(), RateLimitProperties.class);
		this.bindings.registerReflectionHints(hints.reflection(), PolicyDocuments.types());
		// These two name types that an application need not have.
		hints.reflection()
			.registerTypeIfPresent(classLoader, STAND_IN, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
					MemberCategory.INVOKE_PUBLIC_METHODS)
			.registerTypeIfPresent(classLoader, ENDPOINT, MemberCategory.INVOKE_DECLARED_METHODS);
		if (ClassUtils.isPresent(GATEWAY_ON_WEBMVC, classLoader)) {
			hints.reflection().registerTypeIfPresent(classLoader, ROUTE_FILTERS, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
	}

}
