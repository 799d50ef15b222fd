package matrix;

import dev.ratelimit.aop.RateLimited;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class Application {

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args);
	}

	@RestController
	static class Orders {

		@RateLimited("orders")
		@GetMapping("/limited")
		String limited() {
			return "hello";
		}

		@GetMapping("/by-url")
		String byUrl() {
			return "hello";
		}

	}

}
