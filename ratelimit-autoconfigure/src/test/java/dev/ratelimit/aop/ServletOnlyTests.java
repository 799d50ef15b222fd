package dev.ratelimit.aop;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletConfig;
import org.springframework.mock.web.MockServletContext;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application with nothing but Spring MVC: no Reactor, no WebFlux, no AspectJ.
 */
class ServletOnlyTests {

	private static final Pattern ABSENT = Pattern
		.compile(".*(reactor|reactive|webflux|gateway|aspectj|spring-security)[^/]*\\.jar");

	@Test
	void controllerIsLimitedWithoutReactor() throws Exception {
		try (URLClassLoader servletOnly = servletOnly()) {
			assertThatExceptionOfType(ClassNotFoundException.class)
				.isThrownBy(() -> servletOnly.loadClass("reactor.core.publisher.Mono"));
			Thread thread = Thread.currentThread();
			ClassLoader before = thread.getContextClassLoader();
			thread.setContextClassLoader(servletOnly);
			try {
				Callable<?> requests = (Callable<?>) servletOnly.loadClass(Requests.class.getName())
					.getDeclaredConstructor()
					.newInstance();
				assertThat(requests.call()).isEqualTo("200 200 200 429");
			}
			finally {
				thread.setContextClassLoader(before);
			}
		}
	}

	private static URLClassLoader servletOnly() {
		URL[] urls = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !ABSENT.matcher(entry).matches())
			.map(ServletOnlyTests::url)
			.toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	private static URL url(String entry) {
		try {
			return Path.of(entry).toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(entry, ex);
		}
	}

	/** Runs in the other class loader. */
	public static class Requests implements Callable<String> {

		@Override
		public String call() throws Exception {
			AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
			context.register(ServletOnlyApplication.class);
			DispatcherServlet servlet = new DispatcherServlet(context);
			servlet.init(new MockServletConfig(new MockServletContext()));
			StringBuilder statuses = new StringBuilder();
			for (int i = 0; i < 4; i++) {
				MockHttpServletResponse response = new MockHttpServletResponse();
				servlet.service(new MockHttpServletRequest("GET", "/plain"), response);
				statuses.append(response.getStatus()).append(' ');
			}
			servlet.destroy();
			return statuses.toString().strip();
		}

	}

}
