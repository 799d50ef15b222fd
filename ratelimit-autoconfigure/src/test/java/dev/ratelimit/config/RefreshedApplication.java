package dev.ratelimit.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshAutoConfiguration;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.actuate.RateLimitHealthAutoConfiguration;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.policy.PolicySet;

/**
 * An application whose {@code application.yml} is a file that can be changed while it
 * runs, and then refreshed as Spring Cloud does it.
 */
final class RefreshedApplication implements AutoCloseable {

	private final Path file;

	private final ConfigurableApplicationContext context;

	private RefreshedApplication(Path file, ConfigurableApplicationContext context) {
		this.file = file;
		this.context = context;
	}

	static RefreshedApplication start(Path folder, String yaml, String... properties) {
		Path file = folder.resolve("application.yml");
		write(file, yaml);
		return new RefreshedApplication(file,
				new SpringApplicationBuilder(Parts.class).web(WebApplicationType.NONE)
					.properties("spring.config.location=" + file.toUri(), "logging.level.dev.ratelimit=info")
					.properties(properties)
					.run());
	}

	/** Changes the file and refreshes. */
	void refresh(String yaml) {
		write(this.file, yaml);
		this.context.getBean(ContextRefresher.class).refresh();
	}

	ConfigurableApplicationContext context() {
		return this.context;
	}

	LivePolicies live() {
		return this.context.getBean(LivePolicies.class);
	}

	PolicySet policies() {
		return this.context.getBean(Policies.class).get();
	}

	Decision check(Request request) {
		return this.context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
	}

	@Override
	public void close() {
		this.context.close();
		LoggingSystem.get(getClass().getClassLoader()).setLogLevel("dev.ratelimit", null);
	}

	private static void write(Path file, String yaml) {
		try {
			Files.createDirectories(file.getParent());
			Files.writeString(file, yaml);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RefreshAutoConfiguration.class, ConfigurationPropertiesRebinderAutoConfiguration.class,
			RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class, RateLimitFleetAutoConfiguration.class,
			RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class,
			RateLimitControlAutoConfiguration.class, RateLimitHealthAutoConfiguration.class,
			RateLimitRefreshAutoConfiguration.class, RateLimitAdminAutoConfiguration.class })
	static class Parts {

	}

}
