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
	 * The method, such as {@code GET}; empty outside of HTTP.
	 */
	default String method() {
		return "";
	}

	/**
	 * The part of the path that selects the application, empty for an application at the
	 * root.
	 */
	default String contextPath() {
		return "";
	}

	/**
	 * The gateway's route id, the handler's path template or the name of the URL entry
	 * that is checked, never the path itself.
	 */
	@Nullable String route();

	/**
	 * All values of a header, in their order.
	 */
	List<String> headers(String name);

	/**
	 * The host that the call was sent to, perhaps with a port; {@code null} if there is
	 * none or more than one.
	 */
	default @Nullable String host() {
		List<String> hosts = headers("Host");
		return (hosts.size() == 1) ? hosts.get(0) : null;
	}

	/**
	 * All values of a parameter in the query of the URL, in their order and decoded;
	 * never those of a form in the body.
	 */
	default List<String> query(String name) {
		return List.of();
	}

	/**
	 * All values of a cookie, in their order.
	 */
	default List<String> cookies(String name) {
		return List.of();
	}

	/**
	 * The address of the socket's other end.
	 */
	@Nullable InetAddress remoteAddress();

	/**
	 * Whether proxies may forward the call, and say in its headers where it comes from
	 * and which request it repeats. Behind proxies, the address of the socket is then not
	 * the caller's.
	 */
	default boolean forwards() {
		return true;
	}

	/**
	 * Counts the checks of a policy for this call, whichever edge makes them.
	 * @return how many there were before, always 0 if the call has one edge
	 */
	default int countCheck(String policy) {
		return 0;
	}

	/**
	 * The authenticated principal, {@code null} if there is none.
	 */
	@Nullable Principal principal();

}
