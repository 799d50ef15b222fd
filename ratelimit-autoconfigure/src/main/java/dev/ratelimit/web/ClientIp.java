package dev.ratelimit.web;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;

/**
 * The address of a caller. Callers can write anything into {@code X-Forwarded-For}: only
 * as many entries as there are own proxies, counted from the right, are trusted, and only
 * if one of these proxies sends the header. The socket's other end is the first of them,
 * so with one proxy the right-most entry is the caller.
 *
 * <p>
 * Entries are read from the right and no further than needed; names are never looked up.
 */
final class ClientIp {

	/** The longest literal in brackets with a port. */
	private static final int LONGEST_ENTRY = 45 + "[]:65535".length();

	private final int trustedHops;

	private final TrustedProxies trustedProxies;

	ClientIp(IdentityOptions options) {
		this.trustedHops = options.trustedHops();
		this.trustedProxies = new TrustedProxies(options.trustedProxies());
		if (this.trustedHops < 0) {
			throw new IllegalArgumentException("trusted-hops must not be negative but was " + this.trustedHops
					+ ", count the proxies of your own in front of the application");
		}
	}

	/**
	 * The caller with its address in canonical form. Without a forwarded address it is
	 * the socket's, which behind proxies is not the caller's own and not verified.
	 */
	Identity locate(Identity caller, WebCall call) {
		boolean proxied = this.trustedHops > 0
				&& (call.forwards() ? isTrustedPeer(call) : this.trustedProxies.contain(call.remoteAddress()));
		String forwarded = proxied ? forwarded(call.headers("X-Forwarded-For")) : null;
		if (forwarded != null) {
			return caller.withIp(forwarded, true);
		}
		InetAddress socket = call.remoteAddress();
		// The text of an IPv4 address is canonical.
		String ip = (socket instanceof Inet4Address) ? socket.getHostAddress()
				: (socket != null) ? IpAddress.of(socket).toString() : null;
		return caller.withIp(ip, !proxied);
	}

	/**
	 * Whether headers that only proxies should set are believed: always if the proxies
	 * are not configured.
	 */
	boolean isTrustedPeer(WebCall call) {
		return !this.trustedProxies.areKnown() || this.trustedProxies.contain(call.remoteAddress());
	}

	/**
	 * Whether headers are believed that spare a caller something: only from a peer in the
	 * configured proxies, from nobody if none are configured.
	 */
	boolean isKnownProxy(WebCall call) {
		return this.trustedProxies.contain(call.remoteAddress());
	}

	/**
	 * The entry that the farthest own proxy has written, in canonical form. If the
	 * networks of the proxies are known, each entry to the right of it must be in one of
	 * them; the first that is not is a caller that has bypassed the outer proxies.
	 */
	private @Nullable String forwarded(List<String> lines) {
		int left = this.trustedHops;
		for (int i = lines.size() - 1; i >= 0; i--) {
			String line = lines.get(i);
			int end = line.length();
			while (end >= 0) {
				int comma = line.lastIndexOf(',', end - 1);
				int from = skipSpace(line, comma + 1, end);
				// An empty element is no entry: RFC 9110, section 5.6.1.2.
				if (from < end && (--left == 0 || this.trustedProxies.areKnown())) {
					String literal = literal(line, from, end);
					IpAddress entry = IpAddress.parse(literal);
					if (left == 0 || !this.trustedProxies.contain(entry)) {
						return (entry != null) ? text(entry, literal) : null;
					}
				}
				end = comma;
			}
		}
		return null;
	}

	/** The address in an entry without brackets and port; empty if there is none. */
	private static String literal(String line, int from, int end) {
		int to = end;
		while (isSpace(line.charAt(to - 1))) {
			to--;
		}
		if (to - from > LONGEST_ENTRY) {
			return "";
		}
		String entry = line.substring(from, to);
		if (entry.charAt(0) == '[') {
			int close = entry.indexOf(']');
			boolean closed = close > 0 && (close == entry.length() - 1 || isPort(entry, close + 1));
			String literal = closed ? entry.substring(1, close) : "";
			return (literal.indexOf(':') >= 0) ? literal : "";
		}
		int colon = entry.indexOf(':');
		boolean withPort = entry.indexOf('.') < colon && entry.indexOf('.') > 0 && isPort(entry, colon);
		return withPort ? entry.substring(0, colon) : entry;
	}

	/**
	 * The literal of an IPv4 address is canonical, as its numbers have no leading zero.
	 */
	private static String text(IpAddress address, String literal) {
		return (literal.indexOf(':') < 0) ? literal : address.toString();
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
