package dev.ratelimit.actuate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

import dev.ratelimit.admin.AdminDoors;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;

/**
 * Gives other doors to the operations of administrators the access of the actuator
 * endpoint, whether or not the endpoint is exposed.
 */
@AutoConfiguration(after = RateLimitAdminAutoConfiguration.class)
@ConditionalOnClass(EndpointAccessResolver.class)
public final class RateLimitDoorsAutoConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	AdminDoors rateLimitAdminDoors(ObjectProvider<EndpointAccessResolver> resolver) {
		EndpointAccessResolver access = resolver.getIfAvailable();
		return (access == null) ? AdminDoors.READ_ONLY
				: switch (access.accessFor(EndpointId.of("ratelimit"), Access.READ_ONLY)) {
					case NONE -> new AdminDoors(false, false);
					case READ_ONLY -> AdminDoors.READ_ONLY;
					case UNRESTRICTED -> new AdminDoors(true, true);
				};
	}

}
