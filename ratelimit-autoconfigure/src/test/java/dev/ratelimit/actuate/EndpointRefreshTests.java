package dev.ratelimit.actuate;

import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshAutoConfiguration;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.config.RateLimitRefreshAutoConfiguration;

import static org.hamcrest.Matchers.containsString;

/**
 * What the endpoint shows of a configuration that was reloaded, on both stacks and
 * without a store.
 */
class EndpointRefreshTests {

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-tenant.quota";

	@Test
	void reactiveStackShowsWhatWasReloadedAndWhatWasNot() {
		refreshed(Reactive.class, WebApplicationType.REACTIVE);
	}

	@Test
	void servletStackShowsWhatWasReloadedAndWhatWasNot() {
		refreshed(Servlet.class, WebApplicationType.SERVLET);
	}

	private static void refreshed(Class<?> application, WebApplicationType type) {
		Map<String, Object> changing = new HashMap<>();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application).web(type)
			.properties("server.port=0", "management.endpoints.web.exposure.include=ratelimit",
					"ratelimit.policies.orders.limits.per-tenant.by=tenant", QUOTA + "=10/h")
			.run()) {
			context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("changing", changing));
			changing.put(QUOTA, "77/h");
			context.getBean(ContextRefresher.class).refresh();
			get(context, "/policies/orders?version=0").jsonPath("$.policy.limits.per-tenant.quota[0]")
				.isEqualTo("77/h");
			get(context, "").jsonPath("$.rejected").isEmpty();
			changing.put(QUOTA, "-5/h");
			context.getBean(ContextRefresher.class).refresh();
			get(context, "").jsonPath("$.rejected[0].kind")
				.isEqualTo("policy")
				.jsonPath("$.rejected[0].id")
				.isEqualTo("orders")
				.jsonPath("$.rejected[0].version")
				.isEqualTo(0);
			get(context, "/policies/orders").jsonPath("$.policy.limits.per-tenant.quota[0]")
				.isEqualTo("77/h")
				.jsonPath("$.rejected.message")
				.value(containsString(QUOTA));
			get(context, "/policies").jsonPath("$[0].rejected.id").isEqualTo("orders");
		}
	}

	private static WebTestClient.BodyContentSpec get(ConfigurableApplicationContext context, String path) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + port)
			.build()
			.get()
			.uri("/actuator/ratelimit" + path)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody();
	}

	@Configuration(proxyBeanMethods = false)
	static class Anybody {

		@Bean
		AdminCheck anybody() {
			return AdminCheck.ANYBODY;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Anybody.class)
	@ImportAutoConfiguration({ HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
			CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
			WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
			ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitRefreshAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
			RateLimitEndpointAutoConfiguration.class, RefreshAutoConfiguration.class,
			ConfigurationPropertiesRebinderAutoConfiguration.class })
	static class Reactive {

		/** Tomcat is on the class path too. */
		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory(0);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Anybody.class)
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class, WebMvcAutoConfiguration.class,
			EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
			ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
			RateLimitAutoConfiguration.class, RateLimitRefreshAutoConfiguration.class,
			RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
			RefreshAutoConfiguration.class, ConfigurationPropertiesRebinderAutoConfiguration.class })
	static class Servlet {

	}

}
