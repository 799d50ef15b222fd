package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;

import io.grpc.BindableService;
import io.grpc.ServerInterceptor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.grpc.ObservationGrpcServerInterceptor;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.task.TaskExecutor;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.authentication.ReactiveJwtAuthenticationConverter;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.aop.CallLimits;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.UnknownPolicies;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;

/**
 * The interceptor, and what it shares with the gRPC server.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class, afterName = {
		"org.springframework.boot.autoconfigure.security.oauth2.resource.reactive.ReactiveOAuth2ResourceServerAutoConfiguration",
		"org.springframework.boot.autoconfigure.security.oauth2.resource.servlet.OAuth2ResourceServerAutoConfiguration",
		"org.springframework.boot.security.oauth2.server.resource.autoconfigure.reactive.ReactiveOAuth2ResourceServerAutoConfiguration",
		"org.springframework.boot.security.oauth2.server.resource.autoconfigure.servlet.OAuth2ResourceServerAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBean(RateLimiter.class)
@EnableConfigurationProperties(GrpcProperties.class)
@Import(GrpcServerConfiguration.class)
public final class RateLimitGrpcAutoConfiguration {

	@Bean
	MethodPolicies rateLimitGrpcMethodPolicies(GrpcProperties grpc) {
		return new MethodPolicies(grpc.methods(), grpc.perMessage());
	}

	/** The annotations are known when all beans are there. */
	@Bean
	SmartInitializingSingleton rateLimitGrpcAnnotations(MethodPolicies methods, AnnotatedServices annotatedServices,
			ObjectProvider<CallLimits> limits, ObjectProvider<BindableService> services,
			ObjectProvider<CallerTokens> tokens) {
		return () -> {
			CallLimits annotations = limits.getIfAvailable();
			Map<String, CallLimits.Limit> annotated = (annotations != null)
					? annotatedServices.limits(services.stream(), annotations) : Map.of();
			if (!annotated.isEmpty() && tokens.getIfAvailable() instanceof SeveralDecoders several) {
				throw several.failure("@RateLimited", "@RateLimited limits the gRPC method '"
						+ annotated.keySet().stream().sorted().findFirst().orElseThrow() + "'");
			}
			methods.annotated(annotated);
		};
	}

	@Bean
	AnnotatedServices rateLimitGrpcAnnotatedServices() {
		return new AnnotatedServices();
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitServerInterceptor rateLimitServerInterceptor(MethodPolicies methods, RateLimiter limiter,
			RequestResolver resolver, ObjectProvider<CallerTokens> tokens, HttpAnswers answers,
			ObjectProvider<CallTrace.Source> traces, RateLimitProperties properties,
			@Qualifier("applicationTaskExecutor") ObjectProvider<TaskExecutor> executor) {
		TaskExecutor application = executor.getIfAvailable();
		return new RateLimitServerInterceptor(methods, new CallCheck(resolver, limiter),
				tokens.getIfAvailable(() -> CallerTokens.NONE), answers,
				traces.getIfAvailable(() -> CallTrace.Source.NONE), properties.identity().apiKeyHeader(),
				(application != null) ? application : ForkJoinPool.commonPool());
	}

	@Bean
	SmartInitializingSingleton rateLimitGrpcPolicyCheck(GrpcProperties grpc, Policies policies,
			UnknownPolicies unknown) {
		return () -> places(grpc).forEach((place, policy) -> {
			if (policies.get().find(policy) == null) {
				unknown.found(place, policy);
			}
		});
	}

	@Bean
	PolicyUses rateLimitGrpcPolicyUses(GrpcProperties grpc) {
		return (policy) -> places(grpc).entrySet()
			.stream()
			.filter((place) -> place.getValue().equals(policy))
			.map(Map.Entry::getKey)
			.toList();
	}

	/** The settings that name a policy. */
	private static Map<String, String> places(GrpcProperties grpc) {
		Map<String, String> places = new LinkedHashMap<>();
		grpc.methods().forEach((method, policy) -> places.put("'ratelimit.grpc.methods[" + method + "]'", policy));
		if (grpc.enabled()) {
			grpc.envoy().domains().forEach((name, domain) -> {
				if (!domain.policy().isBlank()) {
					places.put("'ratelimit.grpc.envoy.domains." + name + "'", domain.policy());
				}
			});
		}
		return places;
	}

	/** Where nothing is limited over gRPC, it does not matter which decoder is meant. */
	private static CallerTokens severalDecoders(GrpcProperties grpc, String type) {
		SeveralDecoders several = new SeveralDecoders(type);
		if (!grpc.enabled() && grpc.methods().isEmpty()) {
			return several;
		}
		String field = grpc.enabled() ? "ratelimit.grpc.enabled" : "ratelimit.grpc.methods";
		throw several.failure(field, "'" + field + "' is set");
	}

	/**
	 * For an application that limits nothing over gRPC. Annotations are read when all
	 * tokens are there.
	 *
	 * @param type of the decoders
	 */
	private record SeveralDecoders(String type) implements CallerTokens {

		@Override
		public CompletableFuture<@Nullable Principal> verify(String token) {
			return NONE.verify(token);
		}

		InvalidPolicyException failure(String field, String cause) {
			return new InvalidPolicyException(field,
					cause + ", but the application has several beans of type " + this.type
							+ " and none is primary: tokens of gRPC callers could not be verified.",
					"Mark the bean that verifies them with @Primary.");
		}

	}

	/**
	 * Tokens that the decoder of a WebFlux application verifies.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ReactiveJwtDecoder.class, ReactiveJwtAuthenticationConverter.class })
	@ConditionalOnBean(ReactiveJwtDecoder.class)
	static class ReactiveTokens {

		@Bean
		@ConditionalOnMissingBean
		CallerTokens rateLimitGrpcTokens(GrpcProperties grpc, ObjectProvider<ReactiveJwtDecoder> decoders,
				ObjectProvider<ReactiveJwtAuthenticationConverter> converter) {
			ReactiveJwtDecoder decoder = decoders.getIfUnique();
			return (decoder == null) ? severalDecoders(grpc, "ReactiveJwtDecoder")
					: JwtCallerTokens.reactive(decoder, converter.getIfUnique(ReactiveJwtAuthenticationConverter::new));
		}

	}

	/**
	 * Tokens that the decoder of a servlet application verifies.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JwtDecoder.class, JwtAuthenticationConverter.class })
	@ConditionalOnBean(JwtDecoder.class)
	static class BlockingTokens {

		@Bean
		@ConditionalOnMissingBean
		CallerTokens rateLimitGrpcTokens(GrpcProperties grpc, ObjectProvider<JwtDecoder> decoders,
				ObjectProvider<JwtAuthenticationConverter> converter) {
			JwtDecoder decoder = decoders.getIfUnique();
			Converter<Jwt, AbstractAuthenticationToken> roles = converter.getIfUnique(JwtAuthenticationConverter::new);
			return (decoder == null) ? severalDecoders(grpc, "JwtDecoder") : JwtCallerTokens.blocking(decoder, roles);
		}

	}

	/**
	 * A meter of what operators should know about Envoy's messages.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MeterConfiguration {

		@Bean
		EnvoyEvent.Meter rateLimitGrpcEnvoyMeter(MeterRegistry registry) {
			Counter[] counters = Stream.of(EnvoyEvent.values())
				.map((event) -> Counter.builder("ratelimit.grpc.envoy")
					.description("Messages of Envoy that were turned away, and parts of them that were ignored")
					.tag("event", event.text())
					.register(registry))
				.toArray(Counter[]::new);
			return (event) -> counters[event.ordinal()].increment();
		}

	}

	/**
	 * Meters and traces of calls.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ObservationRegistry.class, ObservationGrpcServerInterceptor.class })
	@ConditionalOnSingleCandidate(ObservationRegistry.class)
	static class ObservingConfiguration {

		@Bean
		Observing rateLimitGrpcObserving(ObservationRegistry registry) {
			return new Observing(new ObservationGrpcServerInterceptor(registry));
		}

	}

	/**
	 * Not a bean of its interface: the application's own servers would take it for
	 * theirs.
	 */
	record Observing(ServerInterceptor interceptor) {
	}

}
