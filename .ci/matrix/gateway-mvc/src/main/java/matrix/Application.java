package matrix;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A gateway on WebMVC whose route has the filter; what it leads to is in the same process. */
@SpringBootApplication
@RestController
public class Application {

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args);
	}

	@GetMapping({ "/upstream", "/by-url" })
	String upstream() {
		return "hello";
	}

	@GetMapping("/spent")
	ResponseEntity<String> spent() {
		return ResponseEntity.ok().header("X-Spent", "3").body("hello");
	}

}
