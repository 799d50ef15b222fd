package dev.ratelimit.aop;

import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import dev.ratelimit.web.HttpAnswers;

/**
 * An application that names no class of Reactor.
 */
@Configuration(proxyBeanMethods = false)
@EnableWebMvc
@Import({ AopConfiguration.class, ServletOnlyApplication.Orders.class })
class ServletOnlyApplication {

	@Bean
	RateLimitedExceptionResolver exceptionResolver(HttpAnswers answers, ApplicationContext context) {
		return new RateLimitedExceptionResolver(answers, () -> "trace-1", context);
	}

	@RestController
	static class Orders {

		@GetMapping("/plain")
		@RateLimited("orders")
		String plain() {
			return "done";
		}

	}

}
