package dev.ratelimit.autoconfigure;

import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.ModeSwitch;

/**
 * Logs once, when the application is ready, where counters are kept, how many policies
 * there are with their failure modes, and the address of the endpoint.
 */
record StartupLine(Policies policies, Counters counters, ModeSwitch modeSwitch,
		Environment environment) implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		String modes = this.policies.get()
			.policies()
			.stream()
			.map((policy) -> policy.id() + "=" + policy.settings().onFailure().text())
			.sorted()
			.collect(Collectors.joining(", "));
		int count = this.policies.get().ids().size();
		String what = count + ((count == 1) ? " policy" : " policies")
				+ (modes.isEmpty() ? "" : " (on failure: " + modes + ")") + ", see " + where();
		if (this.counters.source() == Decision.Source.MEMORY) {
			logger.warn("Rate limits are counted in this process only, each instance for itself: {} to share them; {}",
					fix(), what);
		}
		else {
			logger.info("Rate limits are counted in {}; {}", this.counters.source().text(), what);
		}
		FailureMode forced = this.modeSwitch.property();
		if (forced != null) {
			logger.warn("ratelimit.switch.mode is set: '{}' answers every check of this instance until it starts "
					+ "without the property", forced.text());
		}
	}

	private static String fix() {
		boolean redis = ClassUtils.isPresent(
				"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
				StartupLine.class.getClassLoader());
		return (redis ? "" : "add spring-boot-starter-data-redis and ") + "set spring.data.redis.host";
	}

	private String where() {
		String port = this.environment.getProperty("local.management.port",
				this.environment.getProperty("local.server.port"));
		return (port != null) ? "http://localhost:" + port + "/actuator/ratelimit"
				: "the actuator endpoint 'ratelimit'";
	}

}
