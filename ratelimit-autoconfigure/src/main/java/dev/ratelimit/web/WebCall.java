package dev.ratelimit.web;

import java.net.InetAddress;
import java.security.Principal;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * One HTTP call as the edges see it, whichever stack it came through.
 */
public interface WebCall {

	/**
	 * The path as it was sent: encoded, not normalised.
	 */
	String rawPath();

	/**
	 * The gateway's route id or the handler's path template, never the path itself.
	 */
	@Nullable String route();

	/**
	 * All values of a header, in their order.
	 */
	List<String> headers(String name);

	/**
	 * The address of the socket's other end.
	 */
	@Nullable InetAddress remoteAddress();

	/**
	 * Who was authenticated, {@code null} if nobody was.
	 */
	@Nullable Principal principal();

	/**
	 * The trace that the call was sent in, by the W3C's header.
	 */
	default @Nullable String traceId() {
		List<String> headers = headers("traceparent");
		return (headers.size() == 1) ? TraceParent.traceId(headers.get(0)) : null;
	}

}
