package dev.ratelimit.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.web.filter.ForwardedHeaderFilter;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * Fails the start if the server takes the remote address from a header: every caller
 * could then choose the IP that it is counted by. Boot does so if it is configured, and
 * by default on Kubernetes and other platforms; Tomcat and two classes of Spring have
 * settings and beans for it. Without a server there is nothing to check.
 */
class ForwardedHeadersCheck implements InitializingBean, SmartInitializingSingleton {

	private static final String STRATEGY = "server.forward-headers-strategy";

	private static final String NATIVE_VALVE = "org.apache.catalina.valves.RemoteIpValve";

	/** Either makes Boot add the valve, which then also rewrites the address. */
	private static final List<String> VALVE_PROPERTIES = List.of("server.tomcat.remoteip.remote-ip-header",
			"server.tomcat.remoteip.protocol-header");

	private static final String FILTER = "org.springframework.web.filter.ForwardedHeaderFilter";

	private static final String TRANSFORMER = "org.springframework.web.server.adapter.ForwardedHeaderTransformer";

	private static final String REGISTRATION = "org.springframework.boot.web.servlet.FilterRegistrationBean";

	private final boolean trusted;

	private final Environment environment;

	private final ListableBeanFactory beans;

	ForwardedHeadersCheck(boolean trusted, Environment environment, ListableBeanFactory beans) {
		this.trusted = trusted;
		this.environment = environment;
		this.beans = beans;
	}

	@Override
	public void afterPropertiesSet() {
		if (this.trusted) {
			return;
		}
		requireStrategy();
		requireNoValve();
		requireNoBean(type(FILTER), "ForwardedHeaderFilter");
		requireNoBean(type(TRANSFORMER), "ForwardedHeaderTransformer");
	}

	private void requireStrategy() {
		String strategy = property(STRATEGY);
		CloudPlatform platform = CloudPlatform.getActive(this.environment);
		String fix = "Set '" + STRATEGY + "' to 'none'";
		if (strategy != null && !strategy.equalsIgnoreCase("none")) {
			fail("'" + STRATEGY + "' is '" + strategy + "'", fix);
		}
		if (strategy == null && platform != null && platform.isUsingForwardHeaders()) {
			fail("the application runs on " + platform + ", where '" + STRATEGY + "' defaults to using them", fix);
		}
	}

	private void requireNoValve() {
		for (String property : VALVE_PROPERTIES) {
			if (StringUtils.hasText(property(property))
					&& ClassUtils.isPresent(NATIVE_VALVE, getClass().getClassLoader())) {
				fail("'" + property + "' makes Tomcat do so", "Remove '" + property + "'");
			}
		}
	}

	private void requireNoBean(@Nullable ResolvableType type, String name) {
		String[] found = (type != null) ? this.beans.getBeanNamesForType(type, true, false) : new String[0];
		if (found.length > 0) {
			fail("bean '" + found[0] + "' is a " + name, "Remove bean '" + found[0] + "'");
		}
	}

	/** In any spelling. */
	private @Nullable String property(String name) {
		return Binder.get(this.environment).bind(name, String.class).orElse(null);
	}

	private static @Nullable ResolvableType type(String name) {
		ClassLoader loader = ForwardedHeadersCheck.class.getClassLoader();
		return ClassUtils.isPresent(name, loader) ? ResolvableType.forClass(ClassUtils.resolveClassName(name, loader))
				: null;
	}

	/**
	 * The type of a registration bean does not show its filter, so these beans are
	 * checked when they exist.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		if (!this.trusted && type(FILTER) != null && type(REGISTRATION) != null) {
			String found = Registrations.find(this.beans);
			if (found != null) {
				fail("bean '" + found + "' registers a ForwardedHeaderFilter", "Remove bean '" + found + "'");
			}
		}
	}

	/** Loaded only where there are servlets. */
	private static final class Registrations {

		static @Nullable String find(ListableBeanFactory beans) {
			for (String name : beans.getBeanNamesForType(FilterRegistrationBean.class, true, false)) {
				if (beans.getBean(name) instanceof FilterRegistrationBean<?> registration
						&& registration.getFilter() instanceof ForwardedHeaderFilter) {
					return name;
				}
			}
			return null;
		}

	}

	private static void fail(String why, String fix) {
		throw new InvalidPolicyException(
				"The server takes the remote address from forwarded headers (" + why
						+ "), so a caller could choose the IP that it is counted by.",
				fix + " and set 'ratelimit.identity.trusted-hops' to the number of your proxies, "
						+ "or, if nothing but your proxies can reach this server, set 'ratelimit.identity.trust-forwarded' "
						+ "to 'true'.");
	}

}
