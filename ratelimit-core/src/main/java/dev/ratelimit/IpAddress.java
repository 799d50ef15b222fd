package dev.ratelimit;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * An IP address, read from a literal and never from a host name. An IPv4-mapped IPv6
 * address ({@code ::ffff:203.0.113.7}) equals its IPv4 address.
 */
public final class IpAddress {

	private static final int LONGEST_LITERAL = 45;

	private final byte[] bytes;

	private IpAddress(byte[] bytes) {
		this.bytes = bytes;
	}

	public static IpAddress of(InetAddress address) {
		return of(address.getAddress());
	}

	/**
	 * Reads a literal; {@code null} if the text is not an IP address.
	 */
	public static @Nullable IpAddress parse(String text) {
		if (text.isEmpty() || text.length() > LONGEST_LITERAL) {
			return null;
		}
		byte[] bytes = (text.indexOf(':') >= 0) ? parseV6(text) : parseV4(text, 0);
		return (bytes != null) ? of(bytes) : null;
	}

	/**
	 * The address that is counted: of an IPv6 address only the first bits, because one
	 * caller usually has a whole IPv6 network; an IPv4 address unchanged.
	 */
	public IpAddress group(int ipv6Prefix) {
		return (this.bytes.length == 4) ? this : new IpAddress(masked(this.bytes, ipv6Prefix));
	}

	/**
	 * Length of the address in bits: 32 or 128.
	 */
	public int bits() {
		return this.bytes.length * 8;
	}

	/**
	 * First address of the network with this prefix length.
	 */
	public IpAddress network(int prefix) {
		return (prefix >= bits()) ? this : new IpAddress(masked(this.bytes, prefix));
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof IpAddress address && Arrays.equals(this.bytes, address.bytes);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.bytes);
	}

	/**
	 * The canonical text: equal addresses have equal texts.
	 */
	@Override
	public String toString() {
		try {
			return InetAddress.getByAddress(this.bytes).getHostAddress();
		}
		catch (UnknownHostException ex) {
			throw new IllegalStateException("an address has 4 or 16 bytes", ex);
		}
	}

	private static IpAddress of(byte[] bytes) {
		boolean mapped = bytes.length == 16 && bytes[10] == -1 && bytes[11] == -1;
		for (int i = 0; i < 10 && mapped; i++) {
			mapped = bytes[i] == 0;
		}
		return new IpAddress(mapped ? Arrays.copyOfRange(bytes, 12, 16) : bytes);
	}

	private static byte @Nullable [] parseV4(String text, int from) {
		byte[] bytes = new byte[4];
		int at = from;
		for (int part = 0; part < 4; part++) {
			int start = at;
			int value = 0;
			while (at < text.length() && at - start < 3 && isDigit(text.charAt(at))) {
				value = value * 10 + text.charAt(at++) - '0';
			}
			boolean leadingZero = at - start > 1 && text.charAt(start) == '0';
			boolean ended = (part == 3) ? at == text.length() : at < text.length() && text.charAt(at) == '.';
			if (at == start || value > 255 || leadingZero || !ended) {
				return null;
			}
			bytes[part] = (byte) value;
			at++;
		}
		return bytes;
	}

	private static byte @Nullable [] parseV6(String text) {
		byte[] bytes = new byte[16];
		int count = 0;
		int gap = -1;
		int at = 0;
		if (text.startsWith("::")) {
			gap = 0;
			at = 2;
		}
		while (at < text.length()) {
			int end = at;
			int value = 0;
			while (end < text.length() && end - at < 4 && Character.digit(text.charAt(end), 16) >= 0
					&& text.charAt(end) < 128) {
				value = value * 16 + Character.digit(text.charAt(end++), 16);
			}
			if (end < text.length() && text.charAt(end) == '.') {
				byte[] tail = (count <= 12) ? parseV4(text, at) : null;
				if (tail == null) {
					return null;
				}
				System.arraycopy(tail, 0, bytes, count, 4);
				count += 4;
				break;
			}
			if (end == at || count == 16) {
				return null;
			}
			bytes[count++] = (byte) (value >> 8);
			bytes[count++] = (byte) value;
			if (end == text.length()) {
				break;
			}
			if (text.charAt(end) != ':' || end + 1 == text.length()) {
				return null;
			}
			at = end + 1;
			if (text.charAt(at) == ':') {
				if (gap >= 0) {
					return null;
				}
				gap = count;
				at++;
			}
		}
		if (gap < 0) {
			return (count == 16) ? bytes : null;
		}
		if (count > 14) {
			return null;
		}
		System.arraycopy(bytes, gap, bytes, 16 - (count - gap), count - gap);
		Arrays.fill(bytes, gap, 16 - (count - gap), (byte) 0);
		return bytes;
	}

	private static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	private static byte[] masked(byte[] bytes, int prefix) {
		byte[] masked = bytes.clone();
		for (int i = 0; i < masked.length; i++) {
			int bits = Math.max(0, Math.min(8, prefix - 8 * i));
			masked[i] &= (byte) (0xff << (8 - bits));
		}
		return masked;
	}

	/**
	 * A range of addresses such as {@code 10.0.0.0/8}, or a single address.
	 *
	 * @param network first address
	 * @param prefix number of bits
	 */
	public record Range(IpAddress network, int prefix) {

		public static Range parse(String text) {
			int slash = text.indexOf('/');
			IpAddress address = IpAddress.parse((slash < 0) ? text : text.substring(0, slash));
			if (address == null) {
				throw notARange(text);
			}
			int bits = address.bytes.length * 8;
			int prefix = bits;
			try {
				if (slash >= 0) {
					prefix = Integer.parseInt(text.substring(slash + 1));
				}
			}
			catch (NumberFormatException ex) {
				throw notARange(text);
			}
			if (prefix < 0 || prefix > bits) {
				throw notARange(text);
			}
			IpAddress network = new IpAddress(masked(address.bytes, prefix));
			if (!network.equals(address)) {
				throw new IllegalArgumentException(
						"'" + text + "' has bits set beyond its prefix, did you mean " + network + "/" + prefix + "?");
			}
			return new Range(network, prefix);
		}

		/** Whether {@link #parse} accepts a text. */
		public static boolean isValid(String text) {
			try {
				parse(text);
				return true;
			}
			catch (IllegalArgumentException ex) {
				return false;
			}
		}

		public boolean contains(IpAddress address) {
			return address.bytes.length == this.network.bytes.length
					&& Arrays.equals(masked(address.bytes, this.prefix), this.network.bytes);
		}

		private static IllegalArgumentException notARange(String text) {
			return new IllegalArgumentException(
					"'" + text + "' is not an IP address or range, write for example 203.0.113.7 or 10.0.0.0/8");
		}

	}

}
