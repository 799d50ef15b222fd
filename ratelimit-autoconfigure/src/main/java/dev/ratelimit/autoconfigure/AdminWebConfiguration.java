package dev.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import dev.ratelimit.actuate.AdminPaths;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.BodyLimitAdvice;
import dev.ratelimit.admin.BodyLimitWebFilter;
import dev.ratelimit.admin.EncodedSlashWebFilter;
import dev.ratelimit.selfservice.TenantController;

/**
 * What all controllers of the admin API need.
 */
@Configuration(proxyBeanMethods = false)
class AdminWebConfiguration {

	@Bean
	@ConditionalOnMissingBean
	AdminPaths rateLimitAdminPaths(Environment environment) {
		String base = environment.getProperty("management.server.base-path", "")
				+ environment.getProperty("management.endpoints.web.base-path", "/actuator");
		String path = environment.getProperty("management.endpoints.web.path-mapping.ratelimit", "ratelimit");
		return new AdminPaths((base.endsWith("/") ? base : base + '/') + path);
	}

	/**
	 * The servlet stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = "org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter")
	static class OnServlet {

		@Bean
		@ConditionalOnMissingBean
		BodyLimitAdvice rateLimitBodyLimit(Audit audit) {
			return new BodyLimitAdvice(audit);
		}

	}

	/**
	 * The reactive stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	static class OnReactive {

		@Bean
		@ConditionalOnMissingBean
		BodyLimitWebFilter rateLimitBodyLimit(AdminPaths paths) {
			AdminPaths tenants = new AdminPaths(TenantController.PATH);
			return new BodyLimitWebFilter((path) -> paths.contain(path) || tenants.contain(path));
		}

		@Bean
		@ConditionalOnMissingBean
		@ConditionalOnClass(name = "org.springframework.security.web.server.WebFilterChainProxy")
		EncodedSlashWebFilter rateLimitEncodedSlash(AdminPaths paths) {
			return new EncodedSlashWebFilter(paths::contain);
		}

	}

}
