package dev.ratelimit.web.reactive;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;

import org.junit.jupiter.api.Test;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.WebCall;

import static org.assertj.core.api.Assertions.assertThat;

class ExchangeWebCallTests {

	private final MockServerWebExchange exchange = MockServerWebExchange
		.from(MockServerHttpRequest.method(org.springframework.http.HttpMethod.GET, URI.create("/orders//17;x=1/%2e"))
			.header("X-Forwarded-For", "203.0.113.7", "203.0.113.8")
			.remoteAddress(new InetSocketAddress("203.0.113.9", 1)));

	@Test
	void pathIsAsItWasSent() {
		assertThat(call(this.exchange).rawPath()).isEqualTo("/orders//17;x=1/%2e");
	}

	@Test
	void routeIsTheTemplateAndNeverThePath() {
		assertThat(call(this.exchange).route()).isNull();
		this.exchange.getAttributes()
			.put(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE,
					PathPatternParser.defaultInstance.parse("/orders/{id}"));
		assertThat(call(this.exchange).route()).isEqualTo("/orders/{id}");
	}

	@Test
	void routeOfTheGatewayGoesByItsId() {
		Route route = Route.async().id("orders-route").uri("http://localhost").predicate((any) -> true).build();
		this.exchange.getAttributes().put(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR, route);
		assertThat(call(this.exchange).route()).isEqualTo("orders-route");
	}

	@Test
	void routeThatIsGivenWins() {
		assertThat(ExchangeWebCall.of(this.exchange, "given").map(WebCall::route).block()).isEqualTo("given");
	}

	@Test
	void headersHaveAllTheirValues() {
		assertThat(call(this.exchange).headers("x-forwarded-for")).containsExactly("203.0.113.7", "203.0.113.8");
		assertThat(call(this.exchange).headers("absent")).isEmpty();
	}

	@Test
	void addressIsTheSockets() throws Exception {
		assertThat(call(this.exchange).remoteAddress()).isEqualTo(InetAddress.getByName("203.0.113.9"));
	}

	@Test
	void principalIsTakenBeforehand() {
		assertThat(call(this.exchange).principal()).isNull();
		ServerWebExchange known = this.exchange.mutate().principal(Mono.just(() -> "ann")).build();
		assertThat(call(known).principal()).isNotNull();
	}

	private static WebCall call(ServerWebExchange exchange) {
		WebCall call = ExchangeWebCall.of(exchange).block();
		assertThat(call).isNotNull();
		return call;
	}

}
