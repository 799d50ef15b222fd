package dev.ratelimit.grpc;

import java.util.List;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSessionContext;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * TLS by a bundle. Connections that begin after the bundle has changed use its new
 * certificates; a change that cannot be used leaves the old ones in place.
 *
 * <p>
 * With a trust store in the bundle, clients are asked for a certificate but need none: a
 * client without one is a peer that is not trusted by a name.
 */
final class BundleTls extends SslContext {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final boolean asksClients;

	private volatile SslContext current;

	private BundleTls(SslBundle bundle) throws SSLException {
		this.asksClients = asksClients(bundle);
		this.current = context(bundle);
	}

	/**
	 * The TLS of a bundle.
	 * @throws InvalidPolicyException if there is no such bundle or it cannot be used
	 */
	static BundleTls of(String name, SslBundles bundles) {
		try {
			BundleTls tls = new BundleTls(bundles.getBundle(name));
			bundles.addBundleUpdateHandler(name, (bundle) -> tls.update(name, bundle));
			return tls;
		}
		catch (NoSuchSslBundleException | SSLException | IllegalStateException | IllegalArgumentException ex) {
			throw new InvalidPolicyException("ratelimit.grpc.ssl.bundle",
					"'ratelimit.grpc.ssl.bundle' is '" + name + "', which cannot be used: " + ex.getMessage() + ".",
					"Set it to a bundle under 'spring.ssl.bundle' that has a certificate and its private key.");
		}
	}

	/**
	 * Whether clients were asked for a certificate at the start.
	 */
	boolean asksClients() {
		return this.asksClients;
	}

	private static boolean asksClients(SslBundle bundle) {
		return bundle.getStores().getTrustStore() != null;
	}

	private void update(String name, SslBundle bundle) {
		try {
			this.current = context(bundle);
		}
		catch (SSLException | RuntimeException ex) {
			logger.warn("The changed SSL bundle '{}' cannot be used; the gRPC server keeps the old certificates", name,
					ex);
		}
	}

	private static SslContext context(SslBundle bundle) throws SSLException {
		SslContextBuilder builder = SslContextBuilder.forServer(bundle.getManagers().getKeyManagerFactory());
		if (asksClients(bundle)) {
			builder.trustManager(bundle.getManagers().getTrustManagerFactory()).clientAuth(ClientAuth.OPTIONAL);
		}
		String[] protocols = bundle.getOptions().getEnabledProtocols();
		if (protocols != null) {
			builder.protocols(protocols);
		}
		GrpcSslContexts.configure(builder);
		String[] ciphers = bundle.getOptions().getCiphers();
		if (ciphers != null) {
			builder.ciphers(List.of(ciphers));
		}
		return builder.build();
	}

	@Override
	public boolean isClient() {
		return false;
	}

	@Override
	public List<String> cipherSuites() {
		return this.current.cipherSuites();
	}

	@Override
	@SuppressWarnings("deprecation")
	public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
		return this.current.applicationProtocolNegotiator();
	}

	@Override
	public SSLEngine newEngine(ByteBufAllocator allocator) {
		return this.current.newEngine(allocator);
	}

	@Override
	public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
		return this.current.newEngine(allocator, host, port);
	}

	@Override
	public SSLSessionContext sessionContext() {
		return this.current.sessionContext();
	}

}
