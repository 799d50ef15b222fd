package dev.ratelimit.benchmarks.gen;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import dev.ratelimit.benchmarks.load.Arrival;

/**
 * How a request of the generator looks. In path and headers, <code>{key}</code> stands
 * for the number of the caller, <code>{ip}</code> for an address of its own, and
 * <code>{cost}</code> for the permits that the request is to cost.
 *
 * @param server where it goes, on this machine
 * @param path with query
 * @param headers complete lines
 */
record RequestTemplate(InetSocketAddress server, String path, List<String> headers) {

	/**
	 * Takes a URL apart.
	 * @throws IllegalArgumentException if the server is not on this machine
	 */
	static RequestTemplate of(String url, List<String> headers) {
		// A URI has no braces.
		URI uri = URI.create(url.replace("{", "%7B").replace("}", "%7D"));
		if (!"http".equals(uri.getScheme()) || uri.getHost() == null) {
			throw new IllegalArgumentException("the URL must start with http:// and name a host, not " + url);
		}
		String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
		String query = (uri.getRawQuery() != null) ? "?" + uri.getRawQuery() : "";
		return new RequestTemplate(
				new InetSocketAddress(loopback(uri.getHost()), (uri.getPort() < 0) ? 80 : uri.getPort()),
				(path + query).replace("%7B", "{").replace("%7D", "}"), headers);
	}

	private static InetAddress loopback(String host) {
		try {
			InetAddress address = InetAddress.getByName(host);
			if (!address.isLoopbackAddress()) {
				throw new IllegalArgumentException(host + " is not on this machine; load is only sent to the loopback");
			}
			return address;
		}
		catch (UnknownHostException ex) {
			throw new IllegalArgumentException("unknown host " + host, ex);
		}
	}

	/** The request of a generated arrival. */
	ByteBuf encode(Arrival arrival) {
		String key = String.valueOf(arrival.key());
		return encode("GET", fill(this.path, key, address(arrival.key()), arrival.cost()), key, address(arrival.key()),
				arrival.cost());
	}

	/** The request of a line of a log; its path is that of the log. */
	ByteBuf encode(AccessLog.Entry entry) {
		String key = entry.user().equals("-") ? entry.client() : entry.user();
		String base = this.path.equals("/") ? "" : this.path;
		return encode(entry.method(), base + entry.target(), key, entry.client(), 1);
	}

	private ByteBuf encode(String method, String target, String key, String ip, int cost) {
		StringBuilder text = new StringBuilder(200).append(method)
			.append(' ')
			.append(target)
			.append(" HTTP/1.1\r\nHost: ")
			.append(this.server.getHostString())
			.append("\r\nContent-Length: 0\r\n");
		for (String header : this.headers) {
			text.append(fill(header, key, ip, cost)).append("\r\n");
		}
		return Unpooled.copiedBuffer(text.append("\r\n"), StandardCharsets.ISO_8859_1);
	}

	private static String fill(String template, String key, String ip, int cost) {
		return template.replace("{key}", key).replace("{ip}", ip).replace("{cost}", String.valueOf(cost));
	}

	/** All keys have addresses of their own in 10.0.0.0/8. */
	static String address(int key) {
		return "10." + (key >> 16) + "." + (key >> 8 & 0xff) + "." + (key & 0xff);
	}

}
