package dev.ratelimit.grpc;

import java.util.List;

import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;

/**
 * Lets Spring Cloud Gateway start beside a shaded gRPC. Its filter {@code JsonToGrpc} is
 * there as soon as any gRPC is on the class path, but needs the Netty transport that is
 * not shaded; without it the gateway does not start. The beans of this filter are taken
 * out where they cannot work.
 */
@AutoConfiguration
@ConditionalOnClass(name = "org.springframework.cloud.gateway.config.GrpcSslConfigurer")
@ConditionalOnMissingClass("io.grpc.netty.NettyChannelBuilder")
public final class RateLimitGrpcGatewayAutoConfiguration {

	private static final List<String> BEANS = List.of("jsonToGRPCFilterFactory", "grpcSslConfigurer");

	@Bean
	static BeanDefinitionRegistryPostProcessor rateLimitGrpcGatewayFilterRemoval() {
		return (registry) -> BEANS.stream()
			.filter(registry::containsBeanDefinition)
			.forEach(registry::removeBeanDefinition);
	}

}
