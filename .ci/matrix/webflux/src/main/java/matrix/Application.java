package matrix;

import dev.ratelimit.aop.RateLimited;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Handlers that return a publisher, and those that do not. */
@SpringBootApplication
public class Application {

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args);
	}

	@RestController
	static class Orders {

		@RateLimited("orders")
		@GetMapping("/limited")
		Mono<String> limited() {
			return Mono.just("hello");
		}

		@RateLimited("plain")
		@GetMapping("/plain")
		String plain() {
			return "hello";
		}

		@GetMapping("/by-url")
		Mono<String> byUrl() {
			return Mono.just("hello");
		}

	}

}
