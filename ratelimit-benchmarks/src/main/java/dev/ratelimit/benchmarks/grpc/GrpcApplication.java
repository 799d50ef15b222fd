package dev.ratelimit.benchmarks.grpc;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.benchmarks.common.ParentWatch;
import dev.ratelimit.grpc.RateLimitGrpcServer;

/**
 * The smallest application with our gRPC server, configured by grpc.yml. Its port is the
 * first line that it prints.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = "org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration")
public class GrpcApplication {

	public static void main(String[] arguments) {
		ParentWatch.start();
		SpringApplication.run(GrpcApplication.class, arguments);
	}

	@Bean
	ApplicationListener<ApplicationReadyEvent> portAnnouncement(RateLimitGrpcServer server) {
		return (event) -> System.out.println(server.port());
	}

}
