package dev.ratelimit.gateway;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Settling;
import dev.ratelimit.policy.PolicySet;

/**
 * Lets {@link SettlingResponse} see response bodies. It comes before the filter that
 * writes them, which ignores responses that later filters decorate. Without a policy that
 * needs a body or a trailer it does nothing.
 */
final class SettleGlobalFilter implements GlobalFilter, Ordered {

	private final Supplier<PolicySet> policies;

	private volatile @Nullable Known known;

	SettleGlobalFilter(Supplier<PolicySet> policies) {
		this.policies = policies;
	}

	@Override
	public int getOrder() {
		return NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
		return chain.filter(readsBodies()
				? SettlingResponse.readable(exchange.mutate().response(new SettlingResponse(exchange)).build())
				: exchange);
	}

	private boolean readsBodies() {
		PolicySet policies = this.policies.get();
		Known known = this.known;
		if (known == null || known.policies != policies) {
			known = new Known(policies,
					policies.ids().stream().flatMap((id) -> policies.versions(id).stream()).anyMatch((policy) -> {
						Settling settling = policy.settings().settling();
						return settling != null && (settling.header() != null || !settling.json().isEmpty());
					}));
			this.known = known;
		}
		return known.reads;
	}

	private record Known(PolicySet policies, boolean reads) {
	}

}
