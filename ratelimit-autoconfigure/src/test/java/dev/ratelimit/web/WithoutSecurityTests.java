package dev.ratelimit.web;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import com.github.benmanes.caffeine.cache.Caffeine;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs against class paths that lack Spring Security, or its resource server.
 */
public class WithoutSecurityTests {

	@Test
	void aPrincipalGivesItsNameWhereSpringSecurityIsAbsent() throws Exception {
		assertThat(callIn(ContainerPrincipal.class, IdentityResolver.class, WithoutSecurityTests.class, Request.class,
				ClassUtils.class, Logger.class, org.apache.commons.logging.Log.class, Caffeine.class))
			.isEqualTo("ann");
	}

	@Test
	void anAuthenticationGivesItsNameWhereTheResourceServerIsAbsent() throws Exception {
		assertThat(callIn(SecurityPrincipal.class, IdentityResolver.class, WithoutSecurityTests.class, Request.class,
				ClassUtils.class, Logger.class, org.apache.commons.logging.Log.class, Caffeine.class,
				Authentication.class))
			.isEqualTo("ann");
	}

	/** Runs a class of this file with nothing but the jars of some classes. */
	private static Object callIn(Class<?> type, Class<?>... present) throws Exception {
		List<URL> jars = new ArrayList<>();
		for (Class<?> each : present) {
			jars.add(each.getProtectionDomain().getCodeSource().getLocation());
		}
		try (URLClassLoader loader = new URLClassLoader(jars.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			Class<?> loaded = loader.loadClass(type.getName());
			assertThat(loaded.getClassLoader()).isSameAs(loader);
			return ((Callable<?>) loaded.getDeclaredConstructor().newInstance()).call();
		}
	}

	public static final class ContainerPrincipal implements Callable<Object> {

		@Override
		public Object call() {
			TestCall call = TestCall.from("198.51.100.1").as(() -> "ann");
			return new IdentityResolver(IdentityOptions.DEFAULTS, new ClientIp(IdentityOptions.DEFAULTS),
					new KnownKeys(Map.of(), null), List.of())
				.resolve(call)
				.join()
				.user();
		}

	}

	public static final class SecurityPrincipal implements Callable<Object> {

		@Override
		public Object call() {
			TestCall call = TestCall.from("198.51.100.1")
				.as(org.springframework.security.authentication.UsernamePasswordAuthenticationToken.authenticated("ann",
						null, List.of()));
			return new IdentityResolver(IdentityOptions.DEFAULTS, new ClientIp(IdentityOptions.DEFAULTS),
					new KnownKeys(Map.of(), null), List.of())
				.resolve(call)
				.join()
				.user();
		}

	}

}
