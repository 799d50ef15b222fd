package dev.ratelimit.aop;

import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletConfig;
import org.springframework.mock.web.MockServletContext;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;

import dev.ratelimit.ClassPathWithout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with nothing but Spring MVC: no Reactor, no WebFlux, no AspectJ.
 */
class ServletOnlyTests {

	private static final ClassPathWithout SERVLET_ONLY = ClassPathWithout.jars(".*reactor", ".*reactive", ".*webflux",
			".*gateway", ".*aspectj", "spring-security");

	@Test
	void controllerIsLimitedWithoutReactor() throws Exception {
		assertThat(SERVLET_ONLY.has("reactor.core.publisher.Mono")).isFalse();
		assertThat(SERVLET_ONLY.call(Requests.class)).isEqualTo("200 200 200 429");
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
