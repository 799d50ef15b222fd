package dev.ratelimit.gateway;

import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.SettledPolicies;

/**
 * Lets {@link SettlingResponse} see response bodies. It comes before the filter that
 * writes them, which ignores responses that later filters decorate. Without a policy that
 * needs a body or a trailer it does nothing.
 */
final class SettleGlobalFilter implements GlobalFilter, Ordered {

	private final SettledPolicies policies;

	SettleGlobalFilter(SettledPolicies policies) {
		this.policies = policies;
	}

	@Override
	public int getOrder() {
		return NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
		return chain.filter(this.policies.getAsBoolean()
				? SettlingResponse.readable(exchange.mutate().response(new SettlingResponse(exchange)).build())
				: exchange);
	}

}
