package dev.ratelimit.web;

import java.net.InetAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;

/**
 * The address of a caller. What stands in {@code X-Forwarded-For} was written by whoever
 * came before: only as many entries as there are proxies of our own, counted from the
 * right, are to be trusted, and only if it is one of them that sends the header. The
 * socket's other end is the first of these proxies, so with one of them the right-most
 * entry is the caller.
 *
 * <p>
 * Entries are read from the right and no further than needed; names are never looked up.
 */
final class ClientIp {

	private static final String FORWARDED_FOR = "X-Forwarded-For";

	/** The longest literal in brackets with a port. */
	private static final int LONGEST_ENTRY = 45 + "[]:65535".length();

	private final int trustedHops;

	private final IpAddress.Range[] trustedProxies;

	ClientIp(IdentityOptions options) {
		this.trustedHops = options.trustedHops();
		this.trustedProxies = options.trustedProxies().toArray(IpAddress.Range[]::new);
	}

	/**
	 * The same caller with its address in its one spelling. If the proxies do not tell it
	 * is the socket's, which is then not the caller's own and not verified.
	 */
	Identity locate(Identity caller, WebCall call) {
		boolean proxied = this.trustedHops > 0 && isTrustedPeer(call);
		IpAddress forwarded = proxied ? forwarded(call.headers(FORWARDED_FOR)) : null;
		if (forwarded != null) {
			return caller.withIp(forwarded.toString(), true);
		}
		InetAddress socket = call.remoteAddress();
		return caller.withIp((socket != null) ? IpAddress.of(socket).toString() : null, !proxied);
	}

	/**
	 * Whether headers that only proxies should set are to be believed: always if nobody
	 * said where they are.
	 */
	boolean isTrustedPeer(WebCall call) {
		if (this.trustedProxies.length == 0) {
			return true;
		}
		InetAddress socket = call.remoteAddress();
		return isTrusted((socket != null) ? IpAddress.of(socket) : null);
	}

	private boolean isTrusted(@Nullable IpAddress address) {
		for (IpAddress.Range range : this.trustedProxies) {
			if (address != null && range.contains(address)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The entry that the farthest of our proxies has written. Where it is known which
	 * they are, each entry before it must be one of them: a caller that goes past some of
	 * them is the first that is none.
	 */
	private @Nullable IpAddress forwarded(List<String> lines) {
		int left = this.trustedHops;
		for (int i = lines.size() - 1; i >= 0; i--) {
			String line = lines.get(i);
			int end = line.length();
			while (end >= 0) {
				int comma = line.lastIndexOf(',', end - 1);
				int from = skipSpace(line, comma + 1, end);
				// An empty element is no entry: RFC 9110, section 5.6.1.2.
				if (from < end && (--left == 0 || this.trustedProxies.length > 0)) {
					IpAddress entry = parse(line, from, end);
					if (left == 0 || !isTrusted(entry)) {
						return entry;
					}
				}
				end = comma;
			}
		}
		return null;
	}

	private static @Nullable IpAddress parse(String line, int from, int end) {
		int to = end;
		while (isSpace(line.charAt(to - 1))) {
			to--;
		}
		if (to - from > LONGEST_ENTRY) {
			return null;
		}
		String entry = line.substring(from, to);
		if (entry.charAt(0) == '[') {
			int close = entry.indexOf(']');
			boolean closed = close > 0 && (close == entry.length() - 1 || isPort(entry, close + 1));
			String literal = closed ? entry.substring(1, close) : "";
			return (literal.indexOf(':') >= 0) ? IpAddress.parse(literal) : null;
		}
		int colon = entry.indexOf(':');
		boolean withPort = entry.indexOf('.') < colon && entry.indexOf('.') > 0 && isPort(entry, colon);
		return IpAddress.parse(withPort ? entry.substring(0, colon) : entry);
	}

	private static boolean isPort(String entry, int colon) {
		int digits = entry.length() - colon - 1;
		if (entry.charAt(colon) != ':' || digits < 1 || digits > 5) {
			return false;
		}
		for (int i = colon + 1; i < entry.length(); i++) {
			if (entry.charAt(i) < '0' || entry.charAt(i) > '9') {
				return false;
			}
		}
		return true;
	}

	private static int skipSpace(String line, int from, int end) {
		int at = from;
		while (at < end && isSpace(line.charAt(at))) {
			at++;
		}
		return at;
	}

	private static boolean isSpace(char c) {
		return c == ' ' || c == '\t';
	}

}
