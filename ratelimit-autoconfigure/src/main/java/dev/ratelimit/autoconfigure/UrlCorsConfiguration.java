package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsWebFilter;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;

import dev.ratelimit.web.reactive.ExchangeCorsHeaders;
import dev.ratelimit.web.servlet.CorsHeaders;

/**
 * Where an application has its settings of CORS: in filters and sources that are beans,
 * in the chains of Spring Security, and at its handlers.
 */
@Configuration(proxyBeanMethods = false)
class UrlCorsConfiguration {

	/**
	 * The servlet stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class OnServlet {

		@Bean
		CorsHeaders rateLimitCorsHeaders(ObjectProvider<CorsFilter> filters,
				ObjectProvider<FilterRegistrationBean<?>> registrations,
				ObjectProvider<CorsConfigurationSource> sources, ObjectProvider<ServletChain> chains) {
			SingletonSupplier<List<CorsFilter>> beans = SingletonSupplier.of(() -> Stream
				.concat(filters.orderedStream(), registrations.orderedStream().map(FilterRegistrationBean::getFilter))
				.flatMap(OnServlet::cors)
				.distinct()
				.toList());
			return new CorsHeaders((request) -> Stream
				.concat(beans.obtain().stream(), chains.stream().flatMap((chain) -> of(chain, request)))
				.distinct()
				.toList(), SingletonSupplier.of(() -> sources.orderedStream().toList())::obtain);
		}

		/** A matcher may fail on a request that Spring Security would reject. */
		private static Stream<CorsFilter> of(ServletChain chain, HttpServletRequest request) {
			try {
				return chain.apply(request).stream();
			}
			catch (RuntimeException ex) {
				return Stream.empty();
			}
		}

		private static Stream<CorsFilter> cors(Object filter) {
			return (filter instanceof CorsFilter cors) ? Stream.of(cors) : Stream.empty();
		}

	}

	/**
	 * Spring Security on the servlet stack. Its {@code cors(…)} may have a source that is
	 * no bean.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	@ConditionalOnClass(SecurityFilterChain.class)
	static class OnServletSecurity {

		@Bean
		ServletChain rateLimitCorsFiltersOfSecurity(ObjectProvider<SecurityFilterChain> chains) {
			SingletonSupplier<List<SecurityFilterChain>> all = SingletonSupplier
				.of(() -> chains.orderedStream().toList());
			return (request) -> all.obtain()
				.stream()
				.filter((chain) -> chain.matches(request))
				.limit(1)
				.flatMap((chain) -> chain.getFilters().stream())
				.flatMap(OnServlet::cors)
				.toList();
		}

	}

	/**
	 * The reactive stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	static class OnReactive {

		@Bean
		ExchangeCorsHeaders rateLimitCorsHeaders(ObjectProvider<CorsWebFilter> filters,
				ObjectProvider<org.springframework.web.cors.reactive.CorsConfigurationSource> sources,
				ObjectProvider<HandlerMapping> mappings, ObjectProvider<ReactiveChain> chains) {
			SingletonSupplier<List<CorsWebFilter>> beans = SingletonSupplier.of(() -> filters.orderedStream().toList());
			return new ExchangeCorsHeaders(
					(exchange) -> Flux.<WebFilter>fromIterable(beans.obtain())
						.concatWith(Flux.fromStream(chains::stream).concatMap((chain) -> of(chain, exchange))),
					SingletonSupplier.of(() -> sources.orderedStream().toList())::obtain,
					(exchange) -> Flux.fromStream(mappings::orderedStream)
						.concatMap((mapping) -> mapping.getHandler(exchange))
						.next());
		}

		/** A matcher may fail on a request that Spring Security would reject. */
		private static Flux<WebFilter> of(ReactiveChain chain, ServerWebExchange exchange) {
			return Flux.defer(() -> chain.apply(exchange)).onErrorComplete();
		}

	}

	/**
	 * Spring Security on the reactive stack, which wraps each filter with its order.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	@ConditionalOnClass({ SecurityWebFilterChain.class, SecurityWebFiltersOrder.class })
	static class OnReactiveSecurity {

		@Bean
		ReactiveChain rateLimitCorsFiltersOfSecurity(ObjectProvider<SecurityWebFilterChain> chains) {
			return (exchange) -> Flux.fromStream(chains::orderedStream)
				.filterWhen((chain) -> chain.matches(exchange))
				.next()
				.flatMapMany(SecurityWebFilterChain::getWebFilters)
				.filter(OnReactiveSecurity::isCors);
		}

		private static boolean isCors(WebFilter filter) {
			return filter instanceof CorsWebFilter || (filter instanceof Ordered ordered
					&& ordered.getOrder() == SecurityWebFiltersOrder.CORS.getOrder());
		}

	}

	/** Filters of the chain of Spring Security that a request belongs to. */
	@FunctionalInterface
	interface ServletChain extends Function<HttpServletRequest, List<CorsFilter>> {

	}

	/** Filters of the chain of Spring Security that an exchange belongs to. */
	@FunctionalInterface
	interface ReactiveChain extends Function<ServerWebExchange, Flux<WebFilter>> {

	}

}
