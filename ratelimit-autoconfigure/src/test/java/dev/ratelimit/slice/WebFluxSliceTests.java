package dev.ratelimit.slice;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.security.oauth2.resource.reactive.ReactiveOAuth2ResourceServerAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.test.autoconfigure.web.reactive.WebFluxTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.RateLimiter;

import static org.assertj.core.api.Assertions.assertThat;

@WebFluxTest(properties = "spring.data.redis.host=nosuch.invalid", excludeAutoConfiguration = {
		ReactiveSecurityAutoConfiguration.class, ReactiveOAuth2ResourceServerAutoConfiguration.class })
class WebFluxSliceTests {

	@Autowired
	private WebTestClient client;

	@Autowired
	private ApplicationContext context;

	@Test
	void limitedControllerAnswersWithoutALimiter() {
		this.client.get().uri("/orders").exchange().expectStatus().isOk();
		assertThat(this.context.getBeanProvider(RateLimiter.class)).isEmpty();
	}

}
