package dev.ratelimit.web.servlet;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Collections;
import java.util.List;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;
import dev.ratelimit.web.WebCall;

/**
 * A call that came through the servlet stack.
 */
public final class ServletWebCall implements WebCall {

	// Spelled out: a servlet application need not have Spring MVC.
	static final String PATTERN = "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern";

	private final HttpServletRequest request;

	private ServletWebCall(HttpServletRequest request) {
		this.request = request;
	}

	public static WebCall of(HttpServletRequest request) {
		return new ServletWebCall(request);
	}

	@Override
	public String rawPath() {
		return this.request.getRequestURI();
	}

	@Override
	public @Nullable String route() {
		Object pattern = this.request.getAttribute(PATTERN);
		return (pattern != null) ? pattern.toString() : null;
	}

	@Override
	public List<String> headers(String name) {
		return Collections.list(this.request.getHeaders(name));
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
			// Only ever a literal, so that nobody is asked for a name.
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
