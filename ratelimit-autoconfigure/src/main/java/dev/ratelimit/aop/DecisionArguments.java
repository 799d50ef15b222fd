package dev.ratelimit.aop;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.reactive.BindingContext;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.annotation.ArgumentResolverConfigurer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;

/**
 * Keeps Spring from making a {@link Decision} parameter of a controller out of request
 * parameters: a caller must not choose it. The aspect passes the real one.
 */
final class DecisionArguments {

	private DecisionArguments() {
	}

	private static boolean isDecision(MethodParameter parameter) {
		return parameter.getParameterType() == Decision.class;
	}

	/** Loaded only where there is Spring MVC. */
	static final class Mvc implements WebMvcConfigurer, HandlerMethodArgumentResolver {

		@Override
		public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
			resolvers.add(this);
		}

		@Override
		public boolean supportsParameter(MethodParameter parameter) {
			return isDecision(parameter);
		}

		@Override
		public @Nullable Object resolveArgument(MethodParameter parameter, @Nullable ModelAndViewContainer container,
				NativeWebRequest request, @Nullable WebDataBinderFactory binders) {
			return null;
		}

	}

	/** Loaded only where there is WebFlux. */
	static final class Flux
			implements WebFluxConfigurer, org.springframework.web.reactive.result.method.HandlerMethodArgumentResolver {

		@Override
		public void configureArgumentResolvers(ArgumentResolverConfigurer configurer) {
			configurer.addCustomResolver(this);
		}

		@Override
		public boolean supportsParameter(MethodParameter parameter) {
			return isDecision(parameter);
		}

		@Override
		public Mono<Object> resolveArgument(MethodParameter parameter, BindingContext context,
				ServerWebExchange exchange) {
			return Mono.empty();
		}

	}

}
