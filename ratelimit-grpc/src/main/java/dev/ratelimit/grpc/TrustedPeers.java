package dev.ratelimit.grpc;

import java.net.InetAddress;
import java.net.SocketAddress;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerTransportFilter;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;
import dev.ratelimit.config.InvalidPolicyException;

/**
 * Says once per connection whether its peer is trusted: by its address, by a DNS or URI
 * name in its verified certificate, or because it uses the Unix domain socket. The common
 * name of a certificate never counts, as certificate authorities do not verify it.
 */
final class TrustedPeers extends ServerTransportFilter {

	private static final String UNIX = "unix";

	private static final Pattern DNS_NAME = Pattern
		.compile("(?=.*[A-Za-z])[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*");

	private static final Pattern URI_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://\\S+");

	/** As certificates number the kinds of names: RFC 5280, section 4.2.1.6. */
	private static final int SAN_DNS = 2;

	private static final int SAN_URI = 6;

	private final List<IpAddress.Range> ranges = new ArrayList<>();

	private final Set<String> dnsNames = new HashSet<>();

	private final Set<String> uris = new HashSet<>();

	private boolean unix;

	/**
	 * Reads the setting.
	 * @throws InvalidPolicyException naming the entry and the fix
	 */
	TrustedPeers(List<String> peers) {
		for (int i = 0; i < peers.size(); i++) {
			add(peers.get(i), "ratelimit.grpc.trusted-peers[" + i + "]");
		}
	}

	private void add(String peer, String at) {
		if (peer.equals(UNIX)) {
			this.unix = true;
		}
		else if (URI_NAME.matcher(peer).matches()) {
			this.uris.add(peer);
		}
		else if (DNS_NAME.matcher(peer).matches()) {
			this.dnsNames.add(peer.toLowerCase(Locale.ROOT));
		}
		else {
			try {
				this.ranges.add(IpAddress.Range.parse(peer));
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidPolicyException(at, "'" + at + "' is '" + peer + "', which names no peer.",
						"Set it to a network such as 10.0.0.0/8, to a DNS name such as envoy.example.org or a URI such as "
								+ "spiffe://example.org/envoy in the certificates of clients, or to unix.");
			}
		}
	}

	/** Whether names in certificates are trusted, which needs TLS. */
	boolean namesCertificates() {
		return !this.dnsNames.isEmpty() || !this.uris.isEmpty();
	}

	@Override
	public Attributes transportReady(Attributes transport) {
		SocketAddress remote = transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
		InetAddress address = Peer.address(transport);
		boolean trusted = (address != null) ? contains(address) : this.unix && remote instanceof DomainSocketAddress;
		return transport.toBuilder()
			.set(Peer.KEY, new Peer(trusted || names(transport.get(Grpc.TRANSPORT_ATTR_SSL_SESSION)), address))
			.build();
	}

	private boolean contains(InetAddress address) {
		IpAddress ip = IpAddress.of(address);
		return this.ranges.stream().anyMatch((range) -> range.contains(ip));
	}

	private boolean names(@Nullable SSLSession session) {
		if (session == null || !namesCertificates()) {
			return false;
		}
		try {
			return session.getPeerCertificates()[0] instanceof X509Certificate certificate
					&& names(certificate.getSubjectAlternativeNames());
		}
		catch (SSLPeerUnverifiedException | CertificateParsingException ex) {
			// A client without a certificate, or one whose names cannot be read.
			return false;
		}
	}

	private boolean names(@Nullable Collection<List<?>> names) {
		if (names == null) {
			return false;
		}
		for (List<?> name : names) {
			String text = String.valueOf(name.get(1));
			if (name.get(0).equals(SAN_URI) && this.uris.contains(text)
					|| name.get(0).equals(SAN_DNS) && this.dnsNames.contains(text.toLowerCase(Locale.ROOT))) {
				return true;
			}
		}
		return false;
	}

}
