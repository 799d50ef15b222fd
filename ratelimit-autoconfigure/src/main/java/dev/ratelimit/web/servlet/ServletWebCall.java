package dev.ratelimit.web.servlet;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;
import dev.ratelimit.web.CheckCounts;
import dev.ratelimit.web.QueryParameters;
import dev.ratelimit.web.WebCall;

/**
 * A call that came through the servlet stack.
 */
public final class ServletWebCall implements WebCall {

	// Spelled out: a servlet application need not have Spring MVC.
	static final String PATTERN = "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern";

	private final HttpServletRequest request;

	private final @Nullable String route;

	private ServletWebCall(HttpServletRequest request, @Nullable String route) {
		this.request = request;
		this.route = route;
	}

	public static WebCall of(HttpServletRequest request) {
		return new ServletWebCall(request, null);
	}

	/**
	 * The call of a request whose route is known before a handler is found.
	 * @param route {@code null} for the pattern of the handler
	 */
	public static WebCall of(HttpServletRequest request, @Nullable String route) {
		return new ServletWebCall(request, route);
	}

	/** The container gives a request to one thread at a time. */
	@Override
	public int countCheck(String policy) {
		Object known = this.request.getAttribute(CheckCounts.ATTRIBUTE);
		CheckCounts counts = (known instanceof CheckCounts same) ? same : new CheckCounts();
		this.request.setAttribute(CheckCounts.ATTRIBUTE, counts);
		return counts.count(policy);
	}

	@Override
	public String rawPath() {
		return this.request.getRequestURI();
	}

	@Override
	public String method() {
		return this.request.getMethod();
	}

	@Override
	public String contextPath() {
		return this.request.getContextPath();
	}

	@Override
	public @Nullable String route() {
		if (this.route != null) {
			return this.route;
		}
		Object pattern = this.request.getAttribute(PATTERN);
		return (pattern != null) ? pattern.toString() : null;
	}

	@Override
	public List<String> headers(String name) {
		return Collections.list(this.request.getHeaders(name));
	}

	/** HTTP/2 has no header for it, and not every server makes one of its authority. */
	@Override
	public @Nullable String host() {
		return headers("Host").isEmpty() ? this.request.getServerName() : WebCall.super.host();
	}

	/** Without the parameters of the request, which would read a form in the body. */
	@Override
	public List<String> query(String name) {
		String query = this.request.getQueryString();
		return (query != null) ? QueryParameters.values(query, name) : List.of();
	}

	@Override
	public List<String> cookies(String name) {
		Cookie[] cookies = this.request.getCookies();
		return (cookies == null) ? List.of()
				: Arrays.stream(cookies)
					.filter((cookie) -> cookie.getName().equals(name))
					.map(Cookie::getValue)
					.toList();
	}

	@Override
	public @Nullable InetAddress remoteAddress() {
		String text = this.request.getRemoteAddr();
		if (text == null) {
			return null;
		}
		int zone = text.indexOf('%');
		IpAddress address = IpAddress.parse((zone < 0) ? text : text.substring(0, zone));
		try {
			// Always a literal, so no name is looked up.
			return (address != null) ? InetAddress.getByName(address.toString()) : null;
		}
		catch (UnknownHostException ex) {
			return null;
		}
	}

	@Override
	public @Nullable Principal principal() {
		return this.request.getUserPrincipal();
	}

}
