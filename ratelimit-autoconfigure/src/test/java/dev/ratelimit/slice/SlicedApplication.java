package dev.ratelimit.slice;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import dev.ratelimit.aop.RateLimited;

/**
 * An application of which tests start only a slice.
 */
@SpringBootApplication
class SlicedApplication {

	/** Its policy is in no configuration of these tests. */
	@RestController
	static class Orders {

		@GetMapping("/orders")
		@RateLimited("orders")
		String orders() {
			return "done";
		}

	}

}
