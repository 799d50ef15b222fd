package dev.ratelimit.benchmarks.gateway;

import java.net.InetSocketAddress;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerInitializedEvent;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.support.ipresolver.XForwardedRemoteAddressResolver;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;

import dev.ratelimit.benchmarks.common.ParentWatch;

/**
 * The smallest gateway with our starter, configured by gateway.yml. Its port is the first
 * line that it prints.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class GatewayApplication {

	public static void main(String[] arguments) {
		ParentWatch.start();
		SpringApplication.run(GatewayApplication.class, arguments);
	}

	@Bean
	ApplicationListener<WebServerInitializedEvent> portAnnouncement() {
		return (event) -> System.out.println(event.getWebServer().getPort());
	}

	/** For the gateway's own filter: by the same address as ours. */
	@Bean
	@Primary
	KeyResolver addressKeyResolver() {
		XForwardedRemoteAddressResolver addresses = XForwardedRemoteAddressResolver.maxTrustedIndex(1);
		return (exchange) -> {
			InetSocketAddress address = addresses.resolve(exchange);
			return Mono.just(address.getAddress().getHostAddress());
		};
	}

}
