package matrix;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A gateway whose route has the filter; what it leads to is in the same process. */
@SpringBootApplication
@RestController
public class Application {

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args);
	}

	@GetMapping({ "/upstream", "/by-url" })
	Mono<String> upstream() {
		return Mono.just("hello");
	}

	@GetMapping("/spent")
	Mono<ResponseEntity<String>> spent() {
		return Mono.just(ResponseEntity.ok().header("X-Spent", "3").body("hello"));
	}

}
