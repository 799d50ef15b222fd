package dev.ratelimit.autoconfigure;

import java.time.Clock;
import java.util.Locale;
import java.util.regex.Pattern;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.web.IdentityOptions;

/**
 * How callers' values are hashed before they leave the process.
 */
@Configuration(proxyBeanMethods = false)
class HashingConfiguration {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final int SHORT = 16;

	@Bean
	@ConditionalOnMissingBean
	Salt rateLimitSalt(RateLimitProperties properties) {
		IdentityOptions.Hash hash = properties.identity().hash();
		if (hash.hasSalt() && hash.salt().length() < SHORT) {
			logger.warn(
					"ratelimit.identity.hash.salt has fewer than {} characters and could be guessed; use a longer one, "
							+ "at random",
					SHORT);
		}
		return hash.hasSalt() ? Salt.of(hash.salt()) : Salt.random();
	}

	/**
	 * Also the {@link Pseudonyms} of whatever is kept or shown, unless the application
	 * has its own.
	 */
	@Bean
	@Fallback
	@ConditionalOnMissingBean
	Epochs rateLimitEpochs(RateLimitProperties properties, Salt salt) {
		return PolicyMapper.checked("Set 'ratelimit.identity.hash.rotate' to at least 1h, for example 90d.",
				() -> new Epochs(salt, properties.identity().hash().rotate(), Clock.systemUTC()::millis));
	}

	/**
	 * Keeps secrets of ours from being shown, whatever the endpoints of Boot may show:
	 * salts, and the URL of the policy store, which may hold a password.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.SanitizingFunction")
	static class SecretSanitizing {

		/**
		 * Without separators, as environment variables and properties spell differently.
		 */
		private static final Pattern SECRET = Pattern
			.compile(".*hashsalt|.*ratelimitsalt|.*storeredisurl|.*ratelimit.*(password|secret)");

		@Bean
		SanitizingFunction rateLimitSecretSanitizing() {
			return (data) -> {
				String key = data.getKey().toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
				return SECRET.matcher(key).matches() ? data.withSanitizedValue() : data;
			};
		}

	}

}
