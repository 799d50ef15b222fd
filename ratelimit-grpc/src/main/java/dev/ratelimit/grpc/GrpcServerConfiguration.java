package dev.ratelimit.grpc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;

import io.grpc.BindableService;
import io.grpc.ServerInterceptor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskExecutor;
import org.springframework.http.ResponseEntity;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminDoors;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Signatures;
import dev.ratelimit.config.DimensionMapper;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;

/**
 * The gRPC server and its services.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("ratelimit.grpc.enabled")
class GrpcServerConfiguration {

	@Bean(destroyMethod = "close")
	@ConditionalOnMissingBean
	Deciding rateLimitGrpcDeciding(RateLimiter limiter, RequestResolver resolver, Policies policies,
			RateLimitProperties properties) {
		return new Deciding(new CallCheck(resolver, limiter), (id) -> policies.get().find(id),
				properties.redis().timeout());
	}

	@Bean
	RateLimiterService rateLimitGrpcService(RequestResolver resolver, ObjectProvider<CallerTokens> tokens,
			Deciding deciding, HttpAnswers answers, Policies policies, RateLimitProperties properties,
			Map<String, DimensionResolver> resolvers, ObjectProvider<CallTrace.Source> traces,
			ObjectProvider<AdminCalls> admin, ObjectProvider<PolicyRateLimiter> limiter, Counters counters,
			Epochs epochs) {
		MessageChecks checks = new MessageChecks(
				new CheckRequests(resolver, tokens.getIfAvailable(() -> CallerTokens.NONE),
						properties.identity().apiKeyHeader(),
						DimensionMapper.chosen(DimensionMapper.map(properties.dimensions(), resolvers))),
				deciding, new CheckAnswers(answers), (id) -> !policies.get().versions(id).isEmpty());
		PolicyRateLimiter ours = limiter.getIfUnique();
		LeaseMethods.Store store = (ours == null || counters.source() == Decision.Source.MEMORY) ? null
				: new LeaseMethods.Store(ours::settleable, ours::settle);
		LeaseTokens tokensOfLeases = new LeaseTokens(new Signatures(epochs, "lease " + properties.keyPrefix()));
		return new RateLimiterService(checks, new LeaseMethods(checks, tokensOfLeases, store),
				traces.getIfAvailable(() -> CallTrace.Source.NONE), admin.getIfAvailable());
	}

	@Bean
	EnvoyService rateLimitGrpcEnvoyService(GrpcProperties grpc, Deciding deciding, HttpAnswers answers,
			Policies policies, RateLimitProperties properties, Map<String, DimensionResolver> resolvers,
			ObjectProvider<EnvoyEvent.Meter> meter, ObjectProvider<CallTrace.Source> traces) {
		Set<String> custom = DimensionMapper.map(properties.dimensions(), resolvers).keySet();
		Map<String, EnvoyDomain> domains = new HashMap<>();
		grpc.envoy().domains().forEach((name, domain) -> domains.put(name, EnvoyDomain.of(name, domain, custom)));
		if (!domains.isEmpty() && grpc.trustedPeers().isEmpty()) {
			throw new InvalidPolicyException("ratelimit.grpc.trusted-peers",
					"'ratelimit.grpc.envoy.domains' is set, but 'ratelimit.grpc.trusted-peers' is empty: no Envoy could call.",
					"Set 'ratelimit.grpc.trusted-peers' to the network of your Envoys or to a name in their certificates.");
		}
		return new EnvoyService(domains, policies, deciding, new EnvoyAnswers(answers, grpc.envoy().onDeny()),
				properties.onUnknownPolicy() == RateLimitProperties.OnUnknownPolicy.ALLOW,
				meter.getIfAvailable(() -> EnvoyEvent.Meter.NONE), traces.getIfAvailable(() -> CallTrace.Source.NONE),
				properties.identity().ipv6Prefix());
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitGrpcServer rateLimitGrpcServer(GrpcProperties properties, RateLimiterService service, EnvoyService envoy,
			ObjectProvider<SslBundles> bundles, ObjectProvider<RateLimitGrpcAutoConfiguration.Observing> observing) {
		TrustedPeers peers = new TrustedPeers(properties.trustedPeers());
		BundleTls tls = properties.ssl().bundle().isBlank() ? null
				: BundleTls.of(properties.ssl().bundle(), bundles.getObject());
		if (peers.namesCertificates() && (tls == null || !tls.asksClients())) {
			throw new InvalidPolicyException("ratelimit.grpc.trusted-peers",
					"'ratelimit.grpc.trusted-peers' names certificates of clients, but "
							+ ((tls == null) ? "the server does not use TLS."
									: "'" + properties.ssl().bundle()
											+ "' has no trust store, so that no client presents one."),
					"Set 'ratelimit.grpc.ssl.bundle' to a bundle with a trust store.");
		}
		List<BindableService> services = List.of(service, envoy);
		List<ServerInterceptor> interceptors = observing.stream()
			.map(RateLimitGrpcAutoConfiguration.Observing::interceptor)
			.toList();
		return new RateLimitGrpcServer(properties, services, interceptors, peers, tls);
	}

	/**
	 * The operations of administrators, whose problems are responses of Spring Web.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ResponseEntity.class)
	static class AdminConfiguration {

		@Bean
		AdminCalls rateLimitGrpcAdminCalls(ObjectProvider<AdminOperations> operations, ObjectProvider<AdminDoors> doors,
				ObjectProvider<AdminCheck> check, ObjectProvider<CallerTokens> tokens,
				@Qualifier("applicationTaskExecutor") ObjectProvider<TaskExecutor> executor) {
			TaskExecutor application = executor.getIfAvailable();
			return new AdminCalls(operations::getObject, doors.getIfAvailable(() -> AdminDoors.READ_ONLY),
					() -> check.getObject() != AdminCheck.ANYBODY, tokens.getIfAvailable(() -> CallerTokens.NONE),
					(application != null) ? application : ForkJoinPool.commonPool());
		}

	}

}
