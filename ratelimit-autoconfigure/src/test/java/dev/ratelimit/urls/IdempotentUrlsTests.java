package dev.ratelimit.urls;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Retries of a request on real servers of all stacks.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotentUrlsTests {

	private static final String[] ENTRIES = { "ratelimit.policies.heavy.limits.per-user.by=user",
			"ratelimit.policies.heavy.limits.per-user.quota=100/h", "ratelimit.policies.heavy.idempotency.ttl=1h",
			"ratelimit.policies.handled.idempotency.header=Idempotency-Key",
			"ratelimit.policies.sms.idempotency.header=Idempotency-Key", "ratelimit.urls.heavy.path=/heavy/**",
			"ratelimit.urls.heavy.policy=heavy", "ratelimit.urls.heavy.cost=2",
			"ratelimit.urls.heavier.path=/heavy/er/**", "ratelimit.urls.heavier.policy=heavy",
			"ratelimit.urls.heavier.cost=6", "ratelimit.urls.handled.path=/handled/**",
			"ratelimit.urls.handled.policy=handled", "ratelimit.urls.sms.path=/sms", "ratelimit.urls.sms.policy=sms" };

	private static final String TRUSTED = "ratelimit.identity.trusted-proxies=127.0.0.0/8,::1";

	@ParameterizedTest
	@EnumSource
	void retryOfATrustedPeerIsCountedOnceThoughSeveralEdgesCheckIt(UrlStack stack, CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(stack, TRUSTED)) {
			assertThat(output).doesNotContain("ignore the header with the request id");
			assertThat(remaining(application, "/heavy/er/a", "X-Request-Id", "a")).isEqualTo("94");
			assertThat(remaining(application, "/heavy/er/a", "X-Request-Id", "a")).isEqualTo("94");
			assertThat(remaining(application, "/heavy/er/a", "X-Request-Id", "b")).isEqualTo("88");
			assertThat(remaining(application, "/heavy/er/a", "X-Request-Id", "not an id")).isEqualTo("82");
			assertThat(remaining(application, "/heavy/er/a", "Idempotency-Key", "a")).isEqualTo("76");
			assertThat(remaining(application, "/handled/a", "Idempotency-Key", "a")).isEqualTo("7");
			assertThat(remaining(application, "/handled/a", "Idempotency-Key", "a")).isEqualTo("7");
		}
	}

	@Test
	void methodThatACallRunsThreeTimesIsNotItsOwnRetry() {
		try (ConfigurableApplicationContext application = start(UrlStack.SERVLET, TRUSTED)) {
			String once = remaining(application, "/sms", "Idempotency-Key", "a");
			assertThat(once).isEqualTo("7");
			assertThat(remaining(application, "/sms", "Idempotency-Key", "a")).isEqualTo("7");
		}
	}

	@Test
	void headerOfAnybodyIsIgnoredWithAWarning(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(UrlStack.SERVLET)) {
			assertThat(output).containsOnlyOnce("Policies with idempotency (handled, heavy, sms) ignore the header");
			assertThat(remaining(application, "/heavy/a", "X-Request-Id", "a")).isEqualTo("98");
			assertThat(remaining(application, "/heavy/a", "X-Request-Id", "a")).isEqualTo("96");
		}
	}

	@Test
	void headerOfAPeerThatIsNotTrustedIsIgnored() {
		try (ConfigurableApplicationContext application = start(UrlStack.SERVLET,
				"ratelimit.identity.trusted-proxies=192.0.2.0/24")) {
			assertThat(remaining(application, "/heavy/a", "X-Request-Id", "a")).isEqualTo("98");
			assertThat(remaining(application, "/heavy/a", "X-Request-Id", "a")).isEqualTo("96");
		}
	}

	private static ConfigurableApplicationContext start(UrlStack stack, String... more) {
		return stack.start(List.of(), Stream.concat(Stream.of(ENTRIES), Stream.of(more)).toArray(String[]::new));
	}

	private static String remaining(ConfigurableApplicationContext application, String path, String header, String id) {
		return UrlStack.send(application, "GET", path, "Authorization", "Bearer ann", header, id)
			.headers()
			.firstValue("X-RateLimit-Remaining")
			.orElseThrow();
	}

}
