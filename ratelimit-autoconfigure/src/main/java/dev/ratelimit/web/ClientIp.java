package dev.ratelimit.web;

import java.net.InetAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;

/**
 * The address of a caller. What stands in {@code X-Forwarded-For} was written by whoever
 * came before: only as many entries as there are proxies of our own, counted from the
 * right, are to be trusted. The socket's other end is the first of these proxies, so with
 * one of them the right-most entry is the caller.
 *
 * <p>
 * Entries are read from the right and no further than needed; names are never looked up.
 */
final class ClientIp {

	private static final String FORWARDED_FOR = "X-Forwarded-For";

	/** The longest literal in brackets with a port. */
	private static final int LONGEST_ENTRY = 45 + "[]:65535".length();

	private ClientIp() {
	}

	/**
	 * The caller's address in its one spelling, the socket's if the proxies do not tell,
	 * {@code null} if there is none either.
	 */
	static @Nullable String of(WebCall call, int trustedHops) {
		if (trustedHops > 0) {
			IpAddress forwarded = forwarded(call.headers(FORWARDED_FOR), trustedHops);
			if (forwarded != null) {
				return forwarded.toString();
			}
		}
		InetAddress socket = call.remoteAddress();
		return (socket != null) ? IpAddress.of(socket).toString() : null;
	}

	private static @Nullable IpAddress forwarded(List<String> lines, int position) {
		int left = position;
		for (int i = lines.size() - 1; i >= 0; i--) {
			String line = lines.get(i);
			int end = line.length();
			while (end >= 0) {
				int comma = line.lastIndexOf(',', end - 1);
				int from = skipSpace(line, comma + 1, end);
				// An empty element is no entry: RFC 9110, section 5.6.1.2.
				if (from < end && --left == 0) {
					return parse(line, from, end);
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
