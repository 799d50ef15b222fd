package dev.ratelimit.admin;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.RootClassFilter;
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
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import dev.ratelimit.actuate.RateLimitEndpointAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.json.JsonReader;
import dev.ratelimit.selfservice.RateLimitSelfServiceAutoConfiguration;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The admin API over real connections, on both stacks, with the endpoint on the
 * application's port and on one of its own.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdminHttpTests {

	private static final String ADMIN = "ann/ops/RATELIMIT_ADMIN";

	private static final String VIEWER = "vic/ops/RATELIMIT_VIEWER";

	private static final String OTHER = "bob/ops/OTHER";

	private static final String TENANT = "tom/acme/RATELIMIT_TENANT_ADMIN";

	private static final List<String> READS = List.of("", "/policies", "/policies/orders", "/policies/orders?version=0",
			"/overrides/orders/tenant/acme", "/tiers/tenant/acme", "/lists/deny", "/switch", "/hotkeys", "/bans",
			"/usage?policy=orders&tenant=acme", "/refusals", "/audit");

	@ParameterizedTest
	@EnumSource
	void readsAreForViewersAndAdministratorsOnly(Stack stack) {
		stack.run(false, (context, http) -> {
			for (String path : READS) {
				for (String token : Arrays.asList(OTHER, TENANT, null)) {
					assertThat(http.send("GET", path, token, null, null).statusCode()).as(path).isEqualTo(403);
					assertThat(http.send("HEAD", path, token, null, null).statusCode()).as(path).isEqualTo(403);
				}
				for (String token : List.of(VIEWER, ADMIN)) {
					int status = http.send("GET", path, token, null, null).statusCode();
					assertThat(status).as(path).isNotIn(401, 403, 405, 500);
					assertThat(http.send("HEAD", path, token, null, null).statusCode()).as(path).isEqualTo(status);
				}
			}
			HttpResponse<String> refused = http.send("GET", "/lists/deny", OTHER, null, null);
			assertThat(http.problem(refused)).containsEntry("detail",
					"Reads need the authority ROLE_RATELIMIT_VIEWER or ROLE_RATELIMIT_ADMIN");
			assertThat(http.audited())
				.anyMatch((line) -> line.contains("action=read outcome=refused actor=\"bob\" target=\"lists\""));
			assertThat(http.send("POST", "/switch", VIEWER, "application/json", "{\"mode\": \"allow\"}").statusCode())
				.isEqualTo(403);
		});
	}

	@ParameterizedTest
	@CsvSource({ "REACTIVE, false", "REACTIVE, true", "SERVLET, false", "SERVLET, true" })
	void bodyThatCannotBeReadIsAProblemWithFieldAndFixAndAudited(Stack stack, boolean ownPort, CapturedOutput output) {
		stack.run(ownPort, (context, http) -> {
			String json = "application/json";
			String large = "{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(300_000) + "\"}";
			http.expect(413, "body", http.send("POST", "/switch", ADMIN, json, large));
			http.expect(413, "body", http.send("POST", "/%73witch", ADMIN, json, large));
			http.expect(415, "Content-Type",
					http.send("POST", "/switch", ADMIN, "text/plain", "{\"mode\": \"allow\"}"));
			http.expect(415, "Content-Type", http.send("POST", "/switch", ADMIN, "nonsense", "{\"mode\": \"allow\"}"));
			http.expect(415, "Content-Type",
					http.send("POST", "/switch", ADMIN, "application/x-www-form-urlencoded", "mode=allow"));
			http.expect(400, "body", http.send("POST", "/switch", ADMIN, json, "{\"mode\": \"allow\""));
			http.expect(400, "body", http.send("POST", "/switch", ADMIN, json, "{\"mode\": \"allow\"} trailing"));
			http.expect(400, "body",
					http.send("POST", "/switch", ADMIN, json, "{\"mode\": \"deny\", \"mode\": \"allow\"}"));
			http.expect(400, "reason", http.send("POST", "/switch", ADMIN, json,
					"{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(100_000) + "\"}"));
			http.expect(400, "dry", http.send("POST", "/switch?dry=true", ADMIN, json, "{\"mode\": \"allow\"}"));
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
			assertThat(http.audited()).hasSize(10).allMatch((line) -> line.contains("outcome=invalid actor=\"ann\""));
			assertThat(output).doesNotContain("\tat dev.ratelimit").doesNotContain("Exception");
			assertThat(
					http.send("POST", "/switch", ADMIN, json + ";charset=UTF-8", "{\"mode\": \"allow\"}").statusCode())
				.isEqualTo(200);
		});
	}

	static Stream<Arguments> whatCannotBeMeantInAQueryIsAProblem() {
		return Stream.of(Stack.values())
			.flatMap((stack) -> Stream
				.of("?x=1 x", "/policies?x=1 x", "/policies/orders?version=x version",
						"/policies/orders?version=-1 version", "/policies/orders?v=1 v", "/lists/deny?afterr=x afterr",
						"/switch?x=1 x", "/hotkeys?by=luck by", "/hotkeys?bye=traffic bye", "/policies?x=1&x=2 x",
						"/bans?x=1 x", "/audit?limit=1&limit=2 limit", "/audit?limit=0 limit",
						"/usage?policy=nosuch policy", "/usage?policy=orders&ip=1.2.3.400 ip", "/audit?x=1 x")
				.map((query) -> Arguments.of(stack, query.split(" ")[0], query.split(" ")[1])));
	}

	@ParameterizedTest
	@MethodSource
	void whatCannotBeMeantInAQueryIsAProblem(Stack stack, String path, String field) {
		stack.shared((context, http) -> http.expect(400, field, http.send("GET", path, VIEWER, null, null)));
	}

	@ParameterizedTest
	@EnumSource
	void selfServiceIsLimitedPerTenantAndAsksStrangersForAToken(Stack stack) {
		stack.run(false, (context, http) -> {
			HttpResponse<String> stranger = http.tenant("GET", "/usage", null);
			assertThat(stranger.statusCode()).isEqualTo(401);
			assertThat(stranger.headers().firstValue("WWW-Authenticate")).contains("Bearer");
			int answered = 0;
			HttpResponse<String> last = http.tenant("GET", "/usage", TENANT);
			while (last.statusCode() == 200 && answered < 200) {
				answered++;
				last = http.tenant("GET", "/usage", TENANT);
			}
			assertThat(last.statusCode()).isEqualTo(429);
			assertThat(answered).isBetween(60, 100);
			assertThat(last.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
			assertThat(http.tenant("GET", "/usage", "gus/globex/RATELIMIT_TENANT_ADMIN").statusCode()).isEqualTo(200);
		});
	}

	@Test
	void slashInAValueIsAProblemThatNamesTheWayOutBeforeTheFirewallSaysNothing() {
		Stack.REACTIVE.shared((context, http) -> {
			HttpResponse<String> response = http.send("PUT", "/tiers/tenant/a%2Fb", ADMIN, "application/json",
					"{\"tier\": \"pro\"}");
			http.expect(400, "value", response);
			assertThat(response.body()).contains("POST import");
		});
	}

	@Test
	void slashInAValueIsTurnedAwayByTomcatBeforeAnyFilter() {
		Stack.SERVLET.shared((context, http) -> {
			Seen seen = context.getBean(Seen.class);
			assertThat(http.send("PUT", "/tiers/tenant/a%2Fb", ADMIN, "application/json", "{\"tier\": \"pro\"}")
				.statusCode()).isEqualTo(400);
			assertThat(http.send("GET", "/tiers/tenant/seen", ADMIN, null, null).statusCode()).isNotEqualTo(400);
			assertThat(seen.paths).contains("/actuator/ratelimit/tiers/tenant/seen")
				.noneMatch((path) -> path.contains("%2F"));
		});
	}

	@ParameterizedTest
	@EnumSource
	void catchAllAdviceOfTheApplicationDoesNotTakeOverErrorsOfTheAdminApi(Stack stack) {
		try (ConfigurableApplicationContext context = stack.start(false, CatchAll.class)) {
			Http http = new Http(context, List::of);
			http.expect(400, "mode", http.send("POST", "/switch", ADMIN, "application/json", "{\"mode\": \"no\"}"));
			assertThat(http.send("POST", "/switch", null, "application/json", "{}").statusCode()).isIn(401, 403);
		}
	}

	@ParameterizedTest
	@EnumSource
	void controllerThatTheApplicationProxiesAnswersTheSame(Stack stack) {
		try (ConfigurableApplicationContext context = stack.start(false, Proxies.class)) {
			Http http = new Http(context, List::of);
			String json = "application/json";
			String large = "{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(300_000) + "\"}";
			http.expect(415, "Content-Type", http.send("POST", "/switch", ADMIN, "nonsense", "{\"mode\": \"allow\"}"));
			http.expect(413, "body", http.send("POST", "/switch", ADMIN, json, large));
			http.expect(400, "mode", http.send("POST", "/switch", ADMIN, json, "{\"mode\": \"no\"}"));
			assertThat(http.send("POST", "/switch", ADMIN, json, "{\"mode\": \"allow\"}").statusCode()).isEqualTo(200);
		}
	}

	@Test
	void errorsOfBothStacksNameNoExceptionThatOnlyTheServletStackHas() {
		assertThat(Arrays.stream(AdminController.class.getDeclaredMethods())
			.filter((method) -> method.isAnnotationPresent(ExceptionHandler.class))
			.flatMap((method) -> Stream.concat(Arrays.stream(method.getAnnotation(ExceptionHandler.class).value()),
					Arrays.stream(method.getParameterTypes()))))
			.isNotEmpty()
			.noneMatch(ServletException.class::isAssignableFrom);
	}

	enum Stack {

		REACTIVE(Reactive.class, WebApplicationType.REACTIVE), SERVLET(Servlet.class, WebApplicationType.SERVLET);

		private final Class<?> application;

		private final WebApplicationType type;

		private ConfigurableApplicationContext shared;

		Stack(Class<?> application, WebApplicationType type) {
			this.application = application;
			this.type = type;
		}

		void run(boolean ownPort, BiConsumer<ConfigurableApplicationContext, Http> test) {
			// Once it has started: an application sets its loggers up anew.
			try (ConfigurableApplicationContext context = start(ownPort);
					CapturedLog log = new CapturedLog("dev.ratelimit.audit")) {
				test.accept(context, new Http(context, log::lines));
			}
		}

		/** One application for all that changes nothing. */
		synchronized void shared(BiConsumer<ConfigurableApplicationContext, Http> test) {
			if (this.shared == null) {
				this.shared = start(false);
			}
			test.accept(this.shared, new Http(this.shared, List::of));
		}

		ConfigurableApplicationContext start(boolean ownPort, Class<?>... more) {
			return new SpringApplicationBuilder(this.application).sources(more)
				.web(this.type)
				.properties("server.port=0", ownPort ? "management.server.port=0" : "x=y",
						"server.error.include-stacktrace=never", "management.endpoints.web.exposure.include=ratelimit",
						"management.endpoint.ratelimit.access=unrestricted", "ratelimit.self-service.enabled=true",
						"ratelimit.policies.orders.limits.per-tenant.by=tenant",
						"ratelimit.policies.orders.limits.per-tenant.quota=10/h",
						"ratelimit.policies.orders.limits.per-ip.by=ip",
						"ratelimit.policies.orders.limits.per-ip.quota=10/h")
				.run();
		}

	}

	@RestControllerAdvice
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class CatchAll {

		@ExceptionHandler(Exception.class)
		ResponseEntity<String> any() {
			return ResponseEntity.internalServerError().body("the application's");
		}

	}

	/** As an application that logs or measures all controllers has them. */
	@Configuration(proxyBeanMethods = false)
	static class Proxies {

		@Bean
		static DefaultAdvisorAutoProxyCreator proxyCreator() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setProxyTargetClass(true);
			return creator;
		}

		@Bean
		static DefaultPointcutAdvisor aroundControllers() {
			MethodInterceptor proceed = MethodInvocation::proceed;
			return new DefaultPointcutAdvisor(new ComposablePointcut(new RootClassFilter(AdminController.class)),
					proceed);
		}

	}

	private static final class Http {

		private static final HttpClient CLIENT = HttpClient.newHttpClient();

		private final ConfigurableApplicationContext context;

		private final Supplier<List<String>> log;

		Http(ConfigurableApplicationContext context, Supplier<List<String>> log) {
			this.context = context;
			this.log = log;
		}

		List<String> audited() {
			return this.log.get();
		}

		HttpResponse<String> send(String method, String path, String token, String type, String body) {
			String own = this.context.getEnvironment().getProperty("local.management.port");
			String port = (own != null) ? own : this.context.getEnvironment().getProperty("local.server.port");
			return send(method, URI.create("http://localhost:" + port + "/actuator/ratelimit" + path), token, type,
					body);
		}

		HttpResponse<String> tenant(String method, String path, String token) {
			String port = this.context.getEnvironment().getProperty("local.server.port");
			return send(method, URI.create("http://localhost:" + port + "/ratelimit/tenants/me" + path), token, null,
					null);
		}

		private static HttpResponse<String> send(String method, URI uri, String token, String type, String body) {
			HttpRequest.Builder request = HttpRequest.newBuilder(uri)
				.method(method, (body != null) ? HttpRequest.BodyPublishers.ofString(body)
						: HttpRequest.BodyPublishers.noBody());
			if (token != null) {
				request.header("Authorization", "Bearer " + token);
			}
			if (type != null) {
				request.header("Content-Type", type);
			}
			try {
				return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}

		Map<String, Object> problem(HttpResponse<String> response) {
			assertThat(response.headers().firstValue("Content-Type")).as(response.body())
				.hasValueSatisfying((type) -> assertThat(type).startsWith("application/problem+json"));
			return JsonReader.object(response.body());
		}

		void expect(int status, String field, HttpResponse<String> response) {
			assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
			assertThat(problem(response)).containsEntry("status", status)
				.containsEntry("field", field)
				.containsKey("fix");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(WebStack.ReactiveSecurity.class)
	@ImportAutoConfiguration({ HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
			CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, ReactiveSecurityAutoConfiguration.class,
			EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
			ReactiveManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
			RateLimitAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
			RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
			RateLimitSelfServiceAutoConfiguration.class })
	static class Reactive {

		/** Tomcat is on the class path too. */
		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory(0);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(WebStack.ServletSecurity.class)
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class, WebMvcAutoConfiguration.class,
			SecurityAutoConfiguration.class, SecurityFilterAutoConfiguration.class, EndpointAutoConfiguration.class,
			WebEndpointAutoConfiguration.class, ServletManagementContextAutoConfiguration.class,
			ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitControlAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
			RateLimitEndpointAutoConfiguration.class, RateLimitSelfServiceAutoConfiguration.class })
	static class Servlet {

		@Bean
		Seen seen() {
			return new Seen();
		}

	}

	/** Paths that Tomcat lets through, noted before any other filter. */
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static final class Seen implements Filter {

		private final List<String> paths = new CopyOnWriteArrayList<>();

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			this.paths.add(((HttpServletRequest) request).getRequestURI());
			chain.doFilter(request, response);
		}

	}

}
