package dev.ratelimit.testing;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a real {@link RedisServer}, {@link RedisCluster} or {@link RedisSentinels}
 * as parameters, with or without Docker. Each is started when first asked for and shared
 * by all tests of the JVM; before each test it is made whole again and emptied.
 * <p>
 * What has no JUnit Jupiter, such as jqwik properties or a {@code main} method, uses the
 * static methods and gets the same servers. They therefore live until the JVM exits, not
 * until Jupiter is done.
 */
public final class RedisServers implements ParameterResolver, BeforeEachCallback {

	private static final Shared<RedisServer> STANDALONE = new Shared<>(RedisServer::start, RedisServers::reset);

	private static final Shared<RedisCluster> CLUSTER = new Shared<>(() -> RedisCluster.start(Duration.ofSeconds(15)),
			RedisCluster::reset);

	private static final Shared<RedisSentinels> SENTINELS = new Shared<>(RedisSentinels::start, RedisSentinels::reset);

	private static final Map<Class<?>, Shared<?>> BY_TYPE = Map.of(RedisServer.class, STANDALONE, RedisCluster.class,
			CLUSTER, RedisSentinels.class, SENTINELS);

	public static RedisServer standalone() {
		return STANDALONE.get();
	}

	public static RedisCluster cluster() {
		return CLUSTER.get();
	}

	public static RedisSentinels sentinels() {
		return SENTINELS.get();
	}

	/**
	 * Thaws, restarts and empties those shared servers that have been started. Done
	 * before each Jupiter test; others call it themselves.
	 */
	public static void reset() {
		List.of(STANDALONE, CLUSTER, SENTINELS).forEach(Shared::reset);
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		reset();
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return BY_TYPE.containsKey(parameter.getParameter().getType());
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return BY_TYPE.get(parameter.getParameter().getType()).get();
	}

	private static void reset(RedisServer server) {
		server.revive();
		server.forget();
	}

	private static final class Shared<T extends AutoCloseable> {

		private final Supplier<T> starter;

		private final Consumer<T> resetter;

		private T instance;

		Shared(Supplier<T> starter, Consumer<T> resetter) {
			this.starter = starter;
			this.resetter = resetter;
		}

		synchronized T get() {
			if (this.instance == null) {
				this.instance = this.starter.get();
				Runtime.getRuntime().addShutdownHook(new Thread(this::close));
			}
			return this.instance;
		}

		synchronized void reset() {
			if (this.instance != null) {
				this.resetter.accept(this.instance);
			}
		}

		private void close() {
			try {
				this.instance.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
