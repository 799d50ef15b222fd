package dev.ratelimit.test;

import java.util.Map;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import dev.ratelimit.testing.RedisServer;

/**
 * A real Redis for an application under test, without Docker: as a bean of a static
 * method, it points {@code spring.data.redis} to itself and ends with the context. Set
 * {@code ratelimit.backend=redis} as a property of the test, as the address is known only
 * after the choice of the backend; otherwise the start fails.
 *
 * <p>
 * It is no {@code DynamicPropertyRegistrar}: a web server starts its filters, and with
 * them the connection of the limiter, before any registrar is asked.
 */
public final class TestRedis implements BeanFactoryPostProcessor, AutoCloseable {

	private final RedisServer server;

	private TestRedis(RedisServer server) {
		this.server = server;
	}

	/**
	 * Starts a server.
	 * @param options options of {@code redis-server}, such as {@code --maxmemory 10mb}
	 */
	public static TestRedis start(String... options) {
		return new TestRedis(RedisServer.start(options));
	}

	/**
	 * The server, to be stopped, frozen or looked into.
	 */
	public RedisServer server() {
		return this.server;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		beans.getBean(ConfigurableEnvironment.class)
			.getPropertySources()
			.addFirst(new MapPropertySource("ratelimit-test-redis", Map.of("spring.data.redis.host", this.server.host(),
					"spring.data.redis.port", this.server.port())));
	}

	@Override
	public void close() {
		this.server.close();
	}

}
