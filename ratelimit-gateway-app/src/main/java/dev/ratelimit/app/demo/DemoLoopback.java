package dev.ratelimit.app.demo;

import java.util.HashMap;
import java.util.Map;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.env.EnvironmentPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.Profiles;

/**
 * Makes the demo listen on this host only, because its callers can be anybody.
 * {@code ratelimit.demo.remote} opens it, as containers need.
 */
class DemoLoopback implements EnvironmentPostProcessor, Ordered {

	private static final String LOOPBACK = "127.0.0.1";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		boolean remote = environment.getProperty("ratelimit.demo.remote", Boolean.class, false);
		if (remote || !environment.acceptsProfiles(Profiles.of("demo"))) {
			return;
		}
		Map<String, Object> addresses = new HashMap<>(Map.of("server.address", LOOPBACK));
		// Boot refuses an address of its own for a management that shares the port.
		if (ManagementPortType.get(environment) == ManagementPortType.DIFFERENT) {
			addresses.put("management.server.address", LOOPBACK);
		}
		environment.getPropertySources().addFirst(new MapPropertySource("demoLoopback", addresses));
	}

	/** When profiles and files are known. */
	@Override
	public int getOrder() {
		return ConfigDataEnvironmentPostProcessor.ORDER + 1;
	}

}
