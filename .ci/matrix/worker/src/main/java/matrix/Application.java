package matrix;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/** No web: the limiter is asked from code, and what came of it is printed. */
@SpringBootApplication
public class Application {

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args).close();
	}

	@Bean
	ApplicationRunner limited(RateLimiter limiter, MeterRegistry meters, ApplicationContext context) {
		return (args) -> {
			Request request = Request.of("orders").with(Dimension.IP, "192.0.2.1");
			for (int i = 1; i <= 3; i++) {
				Decision decision = limiter.check(request).toCompletableFuture().get();
				System.out.println("matrix: check " + i + " allowed=" + decision.allowed() + " source="
						+ decision.source().text());
			}
			Object health = context.getBean("ratelimitHealthIndicator");
			System.out.println("matrix: health " + indicator().getMethod("health").invoke(health));
			System.out.println("matrix: meter refused=" + meters.get("ratelimit.decisions")
				.tag("outcome", "refused").counters().stream().mapToDouble((counter) -> counter.count()).sum());
		};
	}

	/** Boot 4 has it in another package. */
	private static Class<?> indicator() throws ClassNotFoundException {
		try {
			return Class.forName("org.springframework.boot.health.contributor.HealthIndicator");
		}
		catch (ClassNotFoundException ex) {
			return Class.forName("org.springframework.boot.actuate.health.HealthIndicator");
		}
	}

}
