package dev.ratelimit.app;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * A Spring Cloud Gateway whose routes can be rate limited, ready to run.
 */
@SpringBootApplication
public class RateLimitGatewayApplication {

	public static void main(String[] args) {
		SpringApplication.run(RateLimitGatewayApplication.class, args);
	}

}
