package dev.ratelimit.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
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
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.annotation.Order;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.aop.RateLimitedAutoConfiguration;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.store.SnapshotFile;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications that start while their policy store is away, as real processes would: with
 * ports, probes and runners.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class StoreStartIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	private final HttpClient http = HttpClient.newHttpClient();

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void applicationIsAliveButNotReadyUntilTheStoreAnswers(WebApplicationType web, RedisServer store) throws Exception {
		write(store, "extra");
		store.kill();
		try (Start start = start(web, store, "ratelimit.policies-store.start-timeout=10m")) {
			soon().until(() -> start.port() != 0);
			soon().until(() -> status(start, "liveness") == 200);
			assertThat(status(start, "readiness")).isEqualTo(503);
			assertThat(start.decision("orders")).matches(Decision::allowed).matches(Decision::degraded);
			assertThat(start.gauge("ratelimit.policies.missing")).isOne();
			assertThat(start.gauge("ratelimit.policies.stale")).isOne();
			assertThat(start.future).isNotDone();
			store.restart();
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(start.context.getBean(Policies.class).get().ids()).contains("extra");
			assertThat(start.gauge("ratelimit.policies.missing")).isZero();
			assertThat(start.gauge("ratelimit.policies.stale")).isZero();
			assertThat(status(start, "readiness")).isEqualTo(200);
		}
	}

	@Test
	void runnerOfAWorkerFindsThePoliciesOfALateStore(RedisServer store) throws Exception {
		write(store, "extra");
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=10m")) {
			soon().until(() -> start.context != null && start.context.isRunning());
			store.restart();
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(start.context.getBean(Worker.class).found).contains("extra", "orders");
			// Boot runs runners of the same order in any order.
			assertThat(AnnotationAwareOrderComparator.INSTANCE.compare(start.context.getBean(StoreStart.class),
					start.context.getBean(Worker.class)))
				.isNegative();
		}
	}

	@Test
	void applicationStartsWithTheConfiguredPoliciesAfterTheTimeoutAndSaysSo(RedisServer store, CapturedOutput output)
			throws Exception {
		store.kill();
		try (Start start = start(WebApplicationType.REACTIVE, store, "ratelimit.policies-store.start-timeout=4s")) {
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(status(start, "readiness")).isEqualTo(200);
			assertThat(output).contains("ERROR")
				.contains(
						"The policy store could not be read: no answer within 4 s, and there is no snapshot file. This "
								+ "instance starts with the configured policies alone");
			assertThat(start.gauge("ratelimit.policies.missing")).isOne();
			assertThat(start.gauge("ratelimit.policies.stale")).isOne();
			store.restart();
			soon().until(() -> start.gauge("ratelimit.policies.missing") == 0);
		}
	}

	@Test
	void progressIsInTheLogWhileTheStoreIsAway(RedisServer store, CapturedOutput output) {
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=10m",
				"logging.level.dev.ratelimit=info")) {
			soon().untilAsserted(() -> assertThat(output).contains("Waiting for the policy store: no answer."));
			assertThat(start.future).isNotDone();
		}
	}

	@Test
	void applicationFailsAfterTheTimeoutWhereItShall(RedisServer store, CapturedOutput output) {
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=0s",
				"ratelimit.policies-store.on-unavailable=fail")) {
			assertThat(start.future).failsWithin(Duration.ofMinutes(1));
			assertThat(output).contains("APPLICATION FAILED TO START")
				.contains("The policy store could not be read")
				.contains("set 'ratelimit.policies-store.on-unavailable' to start");
		}
	}

	@Test
	void snapshotIsEnoughToBeReady(RedisServer store, @TempDir Path folder) throws Exception {
		String file = "ratelimit.policies-store.snapshot-file=" + folder.resolve("policies.snapshot");
		try (Start start = start(WebApplicationType.NONE, store, file)) {
			start.future.get(1, TimeUnit.MINUTES);
			join(start.context.getBean(ControlPlane.class)
				.writePolicy("extra", ControlPlaneIntegrationTests.limits("5/h"), null, ANN));
			soon().until(() -> new SnapshotFile(folder.resolve("policies.snapshot")).read().records().size() == 1);
		}
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, file, "ratelimit.policies-store.start-timeout=10m",
				"ratelimit.policies-store.on-unavailable=fail")) {
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(start.context.getBean(Policies.class).get().ids()).contains("extra");
			assertThat(start.gauge("ratelimit.policies.missing")).isZero();
		}
	}

	@Test
	void byDefaultASnapshotIsAmongTheStateFilesOfTheUser(RedisServer store, @TempDir Path folder) throws Exception {
		String[] properties = { "ratelimit.policies-store.snapshot-file=auto", "XDG_STATE_HOME=" + folder,
				"spring.application.name=shop", "ratelimit.policies-store.start-timeout=10m" };
		Path file;
		try (Start start = start(WebApplicationType.NONE, store, properties)) {
			start.future.get(1, TimeUnit.MINUTES);
			// A store that nobody has written to is known too.
			soon().until(() -> snapshots(folder).size() == 1);
			file = snapshots(folder).get(0);
			assertThat(file.getFileName().toString())
				.startsWith("shop-" + store.host() + "_" + store.port() + "_0-rl-");
		}
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, properties)) {
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(start.gauge("ratelimit.policies.missing")).isZero();
			store.restart();
			soon().until(() -> start.context.getBean(ControlPlane.class).state().read());
			join(start.context.getBean(ControlPlane.class)
				.writePolicy("extra", ControlPlaneIntegrationTests.limits("5/h"), null, ANN));
			soon().until(() -> new SnapshotFile(file).read().records().size() == 1);
		}
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, properties)) {
			start.future.get(1, TimeUnit.MINUTES);
			assertThat(start.context.getBean(Policies.class).get().ids()).contains("extra");
		}
		try (Stream<Path> files = Files.list(folder.resolve("ratelimit"))) {
			assertThat(files).containsExactlyInAnyOrder(file, file.resolveSibling(file.getFileName() + ".lock"));
		}
	}

	@Test
	void nameThatALateStoreDoesNotHaveEitherFailsTheStart(RedisServer store, CapturedOutput output) {
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=10m",
				"test.misnamed=true")) {
			soon().untilAsserted(() -> assertThat(output).contains("names policy 'ordres', which is not known yet"));
			assertThat(start.future).isNotDone();
			store.restart();
			assertThat(start.future).failsWithin(Duration.ofMinutes(1));
			assertThat(output).contains("names policy 'ordres', which does not exist")
				.contains("Did you mean 'orders'?");
		}
	}

	@Test
	void policyOfALateStoreThatAUrlEntryCannotUseFailsTheStart(RedisServer store, CapturedOutput output)
			throws Exception {
		write(store, "late");
		store.kill();
		try (Start start = start(WebApplicationType.SERVLET, store, "ratelimit.policies-store.start-timeout=10m",
				"ratelimit.urls.late.path=/late", "ratelimit.urls.late.policy=late",
				"ratelimit.urls.late.before-authentication=true")) {
			soon().untilAsserted(() -> assertThat(output).contains("names policy 'late', which is not known yet"));
			store.restart();
			assertThat(start.future).failsWithin(Duration.ofMinutes(1));
			assertThat(output).contains("counts by tenant, which is not known before authentication");
		}
	}

	@Test
	void versionThatAUrlEntryCannotUseIsRejectedIfTheStoreIsReadAfterTheStart(RedisServer store) throws Exception {
		write(store, "late");
		store.kill();
		try (Start start = start(WebApplicationType.SERVLET, store, "ratelimit.policies-store.start-timeout=0s",
				"ratelimit.policies.late.limits.per-ip.by=ip", "ratelimit.policies.late.limits.per-ip.quota=5/h",
				"ratelimit.urls.late.path=/late", "ratelimit.urls.late.policy=late",
				"ratelimit.urls.late.before-authentication=true")) {
			start.future.get(1, TimeUnit.MINUTES);
			store.restart();
			LivePolicies live = start.context.getBean(LivePolicies.class);
			soon().untilAsserted(() -> assertThat(live.rejected()).singleElement()
				.satisfies((rejected) -> assertThat(rejected.message())
					.contains("counts by tenant, which is not known before authentication")));
			assertThat(live.current().find("late").version()).isZero();
		}
	}

	@Test
	void closingTheApplicationEndsTheWaitAndNoOtherRunnerRuns(RedisServer store, CapturedOutput output) {
		store.kill();
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=10m",
				"logging.level.dev.ratelimit=info")) {
			soon().untilAsserted(() -> assertThat(output).contains("Waiting for the policy store"));
			Worker worker = start.context.getBean(Worker.class);
			start.context.close();
			assertThat(start.future).failsWithin(Duration.ofMinutes(1));
			assertThat(start.context.isActive()).isFalse();
			assertThat(worker.found).isEmpty();
			assertThat(output).doesNotContain("Application run failed");
		}
	}

	@Test
	void timeoutBelowZeroIsExplained(RedisServer store, CapturedOutput output) {
		try (Start start = start(WebApplicationType.NONE, store, "ratelimit.policies-store.start-timeout=-1s")) {
			assertThat(start.future).failsWithin(Duration.ofMinutes(1));
			assertThat(output).contains("'ratelimit.policies-store.start-timeout' is negative");
		}
	}

	private void write(RedisServer store, String policy) throws Exception {
		try (Start start = start(WebApplicationType.NONE, store)) {
			start.future.get(1, TimeUnit.MINUTES);
			join(start.context.getBean(ControlPlane.class)
				.writePolicy(policy, ControlPlaneIntegrationTests.limits("5/h"), null, ANN));
			store.cli("SAVE");
		}
	}

	private int status(Start start, String group) throws IOException, InterruptedException {
		URI uri = URI.create("http://localhost:" + start.port() + "/actuator/health/" + group);
		return this.http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding()).statusCode();
	}

	private static List<Path> snapshots(Path folder) throws IOException {
		Path files = folder.resolve("ratelimit");
		if (!Files.exists(files)) {
			return List.of();
		}
		try (Stream<Path> all = Files.list(files)) {
			return all.filter((file) -> file.toString().endsWith(".snapshot")).toList();
		}
	}

	private static ConditionFactory soon() {
		return Awaitility.await().atMost(Duration.ofMinutes(1));
	}

	private static Start start(WebApplicationType web, RedisServer store, String... properties) {
		return new Start(web, store, properties);
	}

	/** An application on a thread of its own, as its start may take long. */
	private static final class Start implements AutoCloseable {

		private final CompletableFuture<ConfigurableApplicationContext> future;

		private volatile ConfigurableApplicationContext context;

		Start(WebApplicationType web, RedisServer store, String... properties) {
			List<String> arguments = new ArrayList<>(List.of("server.port=0", "spring.data.redis.host=" + store.host(),
					"spring.data.redis.port=" + store.port(), "management.endpoint.health.probes.enabled=true",
					"ratelimit.redis.timeout=2s", "ratelimit.policies.orders.limits.per-tenant.by=tenant",
					"ratelimit.policies.orders.limits.per-tenant.quota=10/h",
					"ratelimit.policies.orders.on-failure=local"));
			arguments.addAll(List.of(properties));
			this.future = CompletableFuture.supplyAsync(
					() -> new SpringApplicationBuilder((web == WebApplicationType.SERVLET) ? Servlet.class
							: (web == WebApplicationType.REACTIVE) ? Reactive.class : Application.class)
						.web(web)
						.bannerMode(Banner.Mode.OFF)
						.initializers((context) -> this.context = context)
						.run(arguments.stream().map("--"::concat).toArray(String[]::new)),
					(task) -> new Thread(task, "start").start());
		}

		int port() {
			return (this.context != null)
					? this.context.getEnvironment().getProperty("local.server.port", Integer.class, 0) : 0;
		}

		Decision decision(String policy) {
			return this.context.getBean(RateLimiter.class)
				.check(Request.of(policy).with(Dimension.TENANT, "acme"))
				.toCompletableFuture()
				.join();
		}

		double gauge(String name) {
			return this.context.getBean(MeterRegistry.class).get(name).gauge().value();
		}

		@Override
		public void close() {
			if (this.context != null) {
				this.context.close();
			}
			this.future.handle((context, failure) -> context).join();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
			RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
			RateLimitMetricsAutoConfiguration.class, RateLimitedAutoConfiguration.class,
			RateLimitUrlsAutoConfiguration.class })
	static class Application {

		@Bean
		MeterRegistry registry() {
			return new SimpleMeterRegistry();
		}

		@Bean
		Worker worker(Policies policies) {
			return new Worker(policies);
		}

		@Bean
		@ConditionalOnProperty("test.misnamed")
		Misnamed misnamed() {
			return new Misnamed();
		}

	}

	/** As early as a runner of an application can ask to be. */
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class Worker implements ApplicationRunner {

		private final Policies policies;

		private volatile List<String> found = List.of();

		Worker(Policies policies) {
			this.policies = policies;
		}

		@Override
		public void run(ApplicationArguments arguments) {
			this.found = List.copyOf(this.policies.get().ids());
		}

	}

	static class Misnamed {

		@RateLimited("ordres")
		public void order() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ApplicationAvailabilityAutoConfiguration.class, HealthEndpointAutoConfiguration.class,
			HealthContributorAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
			AvailabilityHealthContributorAutoConfiguration.class, EndpointAutoConfiguration.class,
			WebEndpointAutoConfiguration.class, ManagementContextAutoConfiguration.class,
			JacksonAutoConfiguration.class })
	static class Probes {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Application.class, Probes.class })
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			HttpMessageConvertersAutoConfiguration.class, WebMvcAutoConfiguration.class,
			ServletManagementContextAutoConfiguration.class })
	static class Servlet {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Application.class, Probes.class })
	@ImportAutoConfiguration({ HttpHandlerAutoConfiguration.class, CodecsAutoConfiguration.class,
			WebFluxAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class })
	static class Reactive {

		@Bean
		NettyReactiveWebServerFactory server() {
			return new NettyReactiveWebServerFactory();
		}

	}

}
