package dev.ratelimit.aop;

import java.net.InetAddress;
import java.security.Principal;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;

/**
 * Stands for the HTTP call where there is none: in schedulers, listeners and asynchronous
 * code. The caller is then known from Spring Security alone.
 *
 * @param route name of the method
 * @param principal the authenticated principal
 * @param missed whether there may be an HTTP call that this thread does not know, so that
 * its caller is unknown rather than missing
 */
record NoCall(String route, @Nullable Principal principal, boolean missed) implements CurrentCall, WebCall {

	static final boolean SECURITY = ClassUtils
		.isPresent("org.springframework.security.core.context.SecurityContextHolder", NoCall.class.getClassLoader());

	/**
	 * A call by the principal of this thread.
	 * @param mayMiss whether the thread may work for an HTTP call without knowing it
	 */
	static NoCall of(RateLimitedMethod method, boolean mayMiss) {
		Principal principal = SECURITY ? Security.principal() : null;
		return new NoCall(method.name(), principal, mayMiss && principal == null);
	}

	@Override
	public WebCall facts() {
		return this;
	}

	@Override
	public @Nullable CallDecisions decisions(HttpAnswers answers) {
		return null;
	}

	@Override
	public void announce(Decision decision, CallDecisions.Edge edge, HttpAnswers answers) {
		// There is no response.
	}

	@Override
	public String rawPath() {
		return "";
	}

	@Override
	public List<String> headers(String name) {
		return List.of();
	}

	@Override
	public @Nullable InetAddress remoteAddress() {
		return null;
	}

	/** Loaded only where there is Spring Security. */
	private static final class Security {

		static @Nullable Authentication principal() {
			return SecurityContextHolder.getContext().getAuthentication();
		}

	}

}
