package dev.ratelimit.autoconfigure;

import java.util.List;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * Finds the connection factory that says where the limiter's Redis is. It looks at the
 * beans themselves: a Lettuce factory may be declared as a plain
 * {@link RedisConnectionFactory}.
 */
final class ConnectionFactories {

	private static final String PROPERTY = "ratelimit.redis.connection-factory";

	private static final String ONE_MORE = "Declare a LettuceConnectionFactory for the limiter, for example with "
			+ "@Bean(defaultCandidate = false), which leaves the application its own, and set '" + PROPERTY
			+ "' to the name of that bean. Or set 'ratelimit.backend' to memory: then each instance counts for itself.";

	private ConnectionFactories() {
	}

	/**
	 * The named one, else the only or primary one, else the only one of Lettuce.
	 * @param name of a bean; empty if none was configured
	 */
	static LettuceConnectionFactory choose(ListableBeanFactory beans, String name) {
		if (!name.isEmpty()) {
			return named(beans, name);
		}
		ObjectProvider<RedisConnectionFactory> factories = beans.getBeanProvider(RedisConnectionFactory.class);
		if (factories.getIfUnique() instanceof LettuceConnectionFactory unique) {
			return unique;
		}
		List<RedisConnectionFactory> all = factories.stream().toList();
		List<LettuceConnectionFactory> usable = all.stream()
			.filter(LettuceConnectionFactory.class::isInstance)
			.map(LettuceConnectionFactory.class::cast)
			.toList();
		if (usable.size() == 1) {
			return usable.get(0);
		}
		if (!usable.isEmpty()) {
			throw new InvalidPolicyException(
					"The Redis of the limiter is ambiguous: there are " + all.size()
							+ " connection factories, and none is primary: " + String.join(", ", names(beans)) + ".",
					"Set '" + PROPERTY + "' to the name of one of them, or mark one as @Primary.");
		}
		throw all.isEmpty()
				? new InvalidPolicyException(
						"The limiter is configured for Redis, but there is no RedisConnectionFactory bean.",
						"Set 'spring.data.redis.host' or declare a LettuceConnectionFactory.")
				: new InvalidPolicyException("The limiter uses Redis through Lettuce, but the connection factory is a "
						+ all.get(0).getClass().getName() + ".", ONE_MORE);
	}

	private static LettuceConnectionFactory named(ListableBeanFactory beans, String name) {
		if (!beans.containsBean(name)) {
			throw new InvalidPolicyException("'" + PROPERTY + "' is '" + name + "', but there is no such bean.",
					"Set it to one of: " + String.join(", ", names(beans)) + ".");
		}
		if (beans.getBean(name) instanceof LettuceConnectionFactory lettuce) {
			return lettuce;
		}
		throw new InvalidPolicyException("'" + PROPERTY + "' is '" + name + "', but that bean is a "
				+ beans.getBean(name).getClass().getName() + ".", ONE_MORE);
	}

	private static String[] names(ListableBeanFactory beans) {
		return beans.getBeanNamesForType(RedisConnectionFactory.class);
	}

}
