package dev.ratelimit.aop;

import java.net.InetAddress;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.util.ReflectionUtils;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls on a thread that must not wait, while the verifier of API keys has not answered.
 */
class MethodCheckTests {

	private static final Dimension KEY = new Dimension("key");

	private final PolicySet policies = new PolicySet(
			List.of(Policy.of("accounts", Algorithm.GCRA, Limit.of("per-key", List.of(KEY), "1/m"))), AccessList.EMPTY,
			new AccessList(List.of(Map.of(KEY, "denied"))));

	private final RecordedLimiter limiter = new RecordedLimiter(this.policies);

	private final MethodCheck check = new MethodCheck(
			new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), (key) -> new CompletableFuture<>(),
					List.of(), () -> this.policies),
			this.limiter, new HttpAnswers(HeaderOptions.DEFAULTS, () -> 0, (bound) -> 0, List.of()), List.of());

	@Test
	void callIsCountedByWhatIsKnown() {
		assertThat(decide("17").reason()).isEqualTo(Decision.Reason.LIMITS);
		assertThat(this.limiter.last().dimensions()).containsEntry(KEY, "17");
		assertThat(this.limiter.last().unresolved().apiKey()).isTrue();
		assertThat(decide("17").outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(decide("18").allowed()).isTrue();
		assertThat(this.limiter.failures()).isEmpty();
	}

	@Test
	void denyListHoldsForTheKey() {
		assertThat(decide("denied").reason()).isEqualTo(Decision.Reason.LIST);
	}

	private Decision decide(String key) {
		RateLimitedMethod method = new RateLimitedMethods()
			.find(ReflectionUtils.findMethod(Service.class, "call", String.class), Service.class);
		MethodVerdict verdict = this.check.decideNow(method, new Object[] { key }, new Call());
		return (verdict.refusal() != null) ? verdict.refusal() : verdict.shown();
	}

	static class Service {

		@RateLimited(policy = "accounts", key = "#account")
		public void call(String account) {
		}

	}

	private static final class Call implements CurrentCall, WebCall {

		@Override
		public WebCall facts() {
			return this;
		}

		@Override
		public CallDecisions decisions(HttpAnswers answers) {
			return null;
		}

		@Override
		public void announce(Decision decision, CallDecisions.Edge edge, HttpAnswers answers) {
		}

		@Override
		public String rawPath() {
			return "/";
		}

		@Override
		public String route() {
			return "/";
		}

		@Override
		public List<String> headers(String name) {
			return name.equals(IdentityOptions.DEFAULTS.apiKeyHeader()) ? List.of("secret") : List.of();
		}

		@Override
		public @Nullable InetAddress remoteAddress() {
			return null;
		}

		@Override
		public @Nullable Principal principal() {
			return null;
		}

	}

}
