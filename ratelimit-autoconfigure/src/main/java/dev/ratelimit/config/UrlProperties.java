package dev.ratelimit.config;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * A limit by URL.
 *
 * @param path Pattern of the paths that are limited.
 * @param methods Methods that are limited; all by default. GET includes HEAD.
 * @param policy Id of the policy.
 * @param cost Permits of a request; by default the costs of the policy decide.
 * @param beforeAuthentication Whether requests are checked before they are authenticated.
 */
public record UrlProperties(@DefaultValue("") String path, @DefaultValue List<String> methods,
		@DefaultValue("") String policy, @Nullable Long cost, @DefaultValue("false") boolean beforeAuthentication) {
}
