package dev.ratelimit.config;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Environment variables that Kubernetes gives every container of a namespace that has a
 * Service called {@code ratelimit} or {@code ratelimit-…}: for {@code ratelimit-grpc}
 * there is {@code RATELIMIT_GRPC_PORT=tcp://10.0.0.7:8082}, which Boot would bind to
 * {@code ratelimit.grpc.port}.
 */
final class ServiceVariables {

	private static final String VARIABLES = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;

	private static final String HIDDEN = "ratelimitServiceVariables";

	private static final Pattern SERVICE = Pattern.compile("RATELIMIT_(.+_)?SERVICE_(HOST|PORT.*)");

	private static final Pattern PROTOCOL = Pattern.compile("RATELIMIT_(.+_)?PORT_\\d+_(TCP|UDP|SCTP)(_.+)?");

	private static final Pattern PORT = Pattern.compile("RATELIMIT_(.+_)?PORT(_.+)?");

	private static final Pattern ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

	private ServiceVariables() {
	}

	static boolean test(String name, @Nullable Object value) {
		return SERVICE.matcher(name).matches() || PROTOCOL.matcher(name).matches()
				|| (PORT.matcher(name).matches() && ADDRESS.matcher(String.valueOf(value)).matches());
	}

	/**
	 * Hides these variables from binding. Placeholders still find them by their own
	 * names.
	 */
	static void hide(ConfigurableEnvironment environment) {
		MutablePropertySources sources = environment.getPropertySources();
		if (!(sources.get(VARIABLES) instanceof SystemEnvironmentPropertySource variables)) {
			return;
		}
		Map<String, Object> hidden = new HashMap<>();
		for (String name : variables.getPropertyNames()) {
			Object value = variables.getProperty(name);
			if (value != null && test(name, value) && isBound(environment, variables, name)) {
				hidden.put(name, value);
			}
		}
		if (!hidden.isEmpty()) {
			Map<String, Object> others = new HashMap<>(variables.getSource());
			others.keySet().removeAll(hidden.keySet());
			sources.replace(VARIABLES, new Others(others, variables));
			// Boot does not read a source of another name as variables: underscores stay.
			sources.addAfter(VARIABLES, new MapPropertySource(HIDDEN, hidden));
		}
	}

	/** An application may have a prefix for its variables; Boot binds no others then. */
	private static boolean isBound(ConfigurableEnvironment environment, SystemEnvironmentPropertySource variables,
			String name) {
		ConfigurationPropertyName property = ConfigurationPropertyName.adapt(name, '_');
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source.getUnderlyingSource() == variables) {
				return source.getConfigurationProperty(property) != null;
			}
		}
		return false;
	}

	/**
	 * The other variables, and where they come from.
	 */
	private static final class Others extends SystemEnvironmentPropertySource implements OriginLookup<String> {

		private final SystemEnvironmentPropertySource all;

		Others(Map<String, Object> source, SystemEnvironmentPropertySource all) {
			super(VARIABLES, source);
			this.all = all;
		}

		@Override
		public @Nullable Origin getOrigin(String key) {
			return OriginLookup.getOrigin(this.all, key);
		}

	}

}
