package dev.ratelimit.slice;

import java.net.URL;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.devtools.restart.classloader.RestartClassLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.aop.RateLimitExceededException;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.aop.RateLimitedAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application under the class loader of devtools: its own classes are loaded anew at
 * each restart, those of the starter are not.
 */
class RestartTests {

	@Test
	void applicationIsLimitedBeforeAndAfterARestart() throws Exception {
		assertThat(runAnew()).isEqualTo("done, refused");
		assertThat(runAnew()).isEqualTo("done, refused");
	}

	private static Object runAnew() throws Exception {
		URL classes = RestartTests.class.getProtectionDomain().getCodeSource().getLocation();
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (RestartClassLoader restarted = new RestartClassLoader(RestartTests.class.getClassLoader(),
				new URL[] { classes })) {
			thread.setContextClassLoader(restarted);
			Class<?> type = restarted.loadClass(Application.class.getName());
			assertThat(type).isNotSameAs(Application.class);
			return ((Callable<?>) type.getDeclaredConstructor().newInstance()).call();
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitAutoConfiguration.class, RateLimitedAutoConfiguration.class })
	public static class Application implements Callable<String> {

		@Override
		public String call() {
			try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
				.web(WebApplicationType.NONE)
				.properties("ratelimit.backend=memory", "ratelimit.policies.orders.limits.all.by=",
						"ratelimit.policies.orders.limits.all.quota=1/d")
				.run()) {
				Orders orders = context.getBean(Orders.class);
				return orders.order() + ", " + refusal(orders);
			}
		}

		private static String refusal(Orders orders) {
			try {
				return orders.order();
			}
			catch (RateLimitExceededException ex) {
				return "refused";
			}
		}

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	public static class Orders {

		@RateLimited("orders")
		public String order() {
			return "done";
		}

	}

}
