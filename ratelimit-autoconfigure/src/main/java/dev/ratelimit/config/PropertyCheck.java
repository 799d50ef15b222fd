package dev.ratelimit.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import dev.ratelimit.config.RateLimitProperties.UnknownProperties;

/**
 * Checks every property under {@code ratelimit} before any is bound, because Boot ignores
 * unknown names: {@code on-failur: deny} would be a policy that fails open.
 *
 * <p>
 * <b>Known names.</b> {@link PropertyNames} finds the record that a name is bound to, by
 * Boot's relaxed rules and through maps and lists, so that there is no list of names to
 * maintain. Names of other modules and of the application come from the metadata of their
 * build ({@link PropertyMetadata}), which is read only for names that are not ours. The
 * check takes about 20 ms of a cold start, most of it to load its classes.
 *
 * <p>
 * <b>One mechanism.</b> {@link RecordShape} knows the fields and {@link FieldRules} their
 * rules: the setting exists, it is supported, a duration has a unit.
 * {@link DocumentBinder} applies them to documents, this class to property sources. At
 * start a problem fails the start; at a refresh {@link ConfigurationReader} rejects the
 * policy that has it, and the last good one stays in force.
 *
 * <p>
 * <b>Sources.</b> A file, a command line or a config server is written for this
 * application, so an unknown name there is a mistake
 * ({@code ratelimit.unknown-properties} makes it a WARN). Environment variables and
 * system properties may belong to other programs, so an unknown name there is only a
 * WARN. Three kinds of variables are not even that: those of the command line tool, those
 * that a placeholder names, and those that Kubernetes makes for Services
 * ({@link ServiceVariables}), which are also hidden from binding. A setting that is not
 * supported yet and a duration without a unit are mistakes in every source.
 *
 * <p>
 * Each problem has the name, its origin with file and line where Boot knows them, and the
 * fix, which {@link InvalidPolicyFailureAnalyzer} shows. Values are not shown: they may
 * be secrets that are in the wrong place.
 */
public class PropertyCheck implements BeanFactoryPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of(PropertyNames.ROOT);

	private static final String SETTING = "ratelimit.unknown-properties";

	/** Read by the command line tool and by samples. */
	private static final Set<String> OURS = Set.of("RATELIMIT_SALT", "RATELIMIT_URL", "RATELIMIT_TOKEN_FILE");

	private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{\\s*([A-Za-z0-9_.-]+)");

	private static final Pattern SEPARATOR = Pattern.compile("[._]+");

	private final ConfigurableEnvironment environment;

	private PropertyNames names = new PropertyNames(PropertyCheck.class.getClassLoader());

	public PropertyCheck(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		if (classLoader != null) {
			this.names = new PropertyNames(classLoader);
			RequiredClasses.check(this.environment, classLoader);
		}
		ServiceVariables.hide(this.environment);
		List<InvalidPolicyException> mistakes = mistakes(logger::warn).stream().map(Mistake::problem).toList();
		if (!mistakes.isEmpty()) {
			throw all(mistakes);
		}
	}

	/**
	 * Finds all mistakes.
	 * @param warnings gets problems that are only logged
	 */
	List<Mistake> mistakes(Consumer<String> warnings) {
		boolean lenient = Binder.get(this.environment)
			.bind(SETTING, UnknownProperties.class)
			.orElse(UnknownProperties.FAIL) == UnknownProperties.WARN;
		List<Mistake> mistakes = new ArrayList<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource variables) {
				checkVariables(variables, mistakes, warnings);
			}
			else if (source instanceof IterableConfigurationPropertySource properties) {
				boolean mild = lenient || isSystemProperties(source.getUnderlyingSource());
				properties.stream()
					.filter(ROOT::isAncestorOf)
					.forEach((name) -> check(properties.getConfigurationProperty(name), mild, mistakes, warnings));
			}
		}
		return mistakes;
	}

	private void check(@Nullable ConfigurationProperty property, boolean lenient, List<Mistake> mistakes,
			Consumer<String> warnings) {
		if (property == null) {
			return;
		}
		ConfigurationPropertyName name = property.getName();
		List<String> elements = IntStream.range(0, name.getNumberOfElements())
			.mapToObj((i) -> name.getElement(i, Form.ORIGINAL))
			.toList();
		String origin = (property.getOrigin() != null) ? " (" + property.getOrigin() + ")" : "";
		check(new PropertyNames.Name(elements, false), name.toString(), origin, property.getValue(), lenient, mistakes,
				warnings);
	}

	private void checkVariables(SystemEnvironmentPropertySource source, List<Mistake> mistakes,
			Consumer<String> warnings) {
		Set<String> used = null;
		for (String variable : source.getPropertyNames()) {
			List<String> elements = Arrays.asList(SEPARATOR.split(variable.toLowerCase(Locale.ROOT)));
			if (elements.size() < 2 || !elements.get(0).equals(PropertyNames.ROOT) || OURS.contains(variable)
					|| ServiceVariables.test(variable, source.getProperty(variable))) {
				continue;
			}
			used = (used != null) ? used : placeholders();
			if (!used.contains(variable)) {
				check(new PropertyNames.Name(elements, true), variable, " (environment variable)",
						source.getProperty(variable), true, mistakes, warnings);
			}
		}
	}

	private void check(PropertyNames.Name name, String shown, String origin, @Nullable Object value, boolean lenient,
			List<Mistake> mistakes, Consumer<String> warnings) {
		PropertyNames.Meaning meaning = this.names.meaning(name);
		switch (meaning.kind()) {
			case KNOWN -> {
				if (meaning.nearest() != null) {
					warnings.accept("'" + shown + "'" + origin + " has no effect, as Boot does not bind this spelling. "
							+ "Rename it to '" + meaning.nearest() + "'.");
					return;
				}
				String text = (meaning.type() == Duration.class)
						? this.environment.resolvePlaceholders(String.valueOf(value)) : "";
				if (FieldRules.lacksUnit(meaning.type(), text)) {
					mistakes.add(new Mistake(name, FieldRules.withoutUnit(shown, text)));
				}
			}
			case UNKNOWN -> {
				String problem = "There is no property '" + shown + "'" + origin + ".";
				if (lenient) {
					warnings.accept(
							FieldRules.unknown(shown, problem, meaning.nearest(), "It has no effect.").getMessage());
				}
				else {
					mistakes.add(new Mistake(name,
							FieldRules.unknown(shown, problem, meaning.nearest(), "Correct or remove '" + shown
									+ "'. If the application itself reads it, set '" + SETTING + "' to warn.")));
				}
			}
		}
	}

	/** Names in the placeholders of all sources. */
	private Set<String> placeholders() {
		Set<String> names = new HashSet<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> properties) {
				for (String name : properties.getPropertyNames()) {
					if (properties.getProperty(name) instanceof CharSequence text) {
						Matcher matcher = PLACEHOLDER.matcher(text);
						while (matcher.find()) {
							names.add(matcher.group(1));
						}
					}
				}
			}
		}
		return names;
	}

	private static boolean isSystemProperties(@Nullable Object source) {
		return source instanceof PropertySource<?> properties
				&& properties.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	/** One exception for all mistakes. */
	static InvalidPolicyException all(List<InvalidPolicyException> mistakes) {
		return (mistakes.size() == 1) ? mistakes.get(0) : new InvalidPolicyException(
				lines(mistakes, InvalidPolicyException::problem), lines(mistakes, InvalidPolicyException::fix));
	}

	private static String lines(List<InvalidPolicyException> mistakes, Function<InvalidPolicyException, String> text) {
		return mistakes.stream().map(text).distinct().collect(Collectors.joining(System.lineSeparator()));
	}

	/**
	 * A property that is a mistake.
	 *
	 * @param problem what is wrong, and the fix
	 */
	record Mistake(PropertyNames.Name name, InvalidPolicyException problem) {

		/** The policy that it is in, {@code null} if it is elsewhere. */
		@Nullable String policy() {
			return (this.name.size() > 3 && this.name.element(1).equals("policies")) ? this.name.element(2) : null;
		}

	}

}
