package dev.ratelimit.grpc;

import java.nio.file.Path;
import java.util.Set;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.grpc.v1.CheckRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * TLS, and peers that are trusted by their certificates. A peer that is not trusted has
 * no tenant, which the policy denies.
 */
class GrpcTlsTests {

	private static final String[] POLICY = { "ratelimit.policies.orders.limits.per-tenant.by=tenant",
			"ratelimit.policies.orders.limits.per-tenant.quota=100/d",
			"ratelimit.policies.orders.on-missing-identity=deny" };

	@TempDir
	private static Path folder;

	private static TestCertificate server;

	private static TestCertificate dns;

	private static TestCertificate uri;

	private static TestCertificate commonName;

	private static GrpcApplication application;

	@BeforeAll
	static void start() throws Exception {
		server = TestCertificate.create(folder, "server", "ip:127.0.0.1");
		dns = TestCertificate.create(folder, "client", "dns:envoy.example.org");
		uri = TestCertificate.create(folder, "client", "uri:spiffe://example.org/envoy");
		commonName = TestCertificate.create(folder, "envoy.example.org", "dns:other.example.org");
		application = GrpcApplication.start(POLICY[0], POLICY[1], POLICY[2], "ratelimit.grpc.ssl.bundle=grpc",
				"ratelimit.grpc.trusted-peers=envoy.example.org,spiffe://example.org/envoy",
				"spring.ssl.bundle.pem.grpc.keystore.certificate=" + server.certificate(),
				"spring.ssl.bundle.pem.grpc.keystore.private-key=" + server.privateKey(),
				"spring.ssl.bundle.pem.grpc.truststore.certificate=" + dns.certificate() + uri.certificate()
						+ commonName.certificate());
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void peerIsTrustedByADnsNameOrAUriInItsCertificate() throws Exception {
		assertThat(check(server, dns)).isEqualTo(Status.Code.OK);
		assertThat(check(server, uri)).isEqualTo(Status.Code.OK);
	}

	@Test
	void commonNameNeverCounts() throws Exception {
		assertThat(check(server, commonName)).isEqualTo(Status.Code.UNAUTHENTICATED);
	}

	@Test
	void peerWithoutACertificateIsServedButNotTrusted() throws Exception {
		assertThat(check(server, null)).isEqualTo(Status.Code.UNAUTHENTICATED);
	}

	@Test
	void newConnectionsUseAChangedBundle() throws Exception {
		TestCertificate first = TestCertificate.create(folder, "first", "ip:127.0.0.1");
		TestCertificate second = TestCertificate.create(folder, "second", "ip:127.0.0.1");
		try (GrpcApplication changed = GrpcApplication.start(POLICY[0], POLICY[1], POLICY[2],
				"ratelimit.grpc.ssl.bundle=grpc",
				"spring.ssl.bundle.pem.grpc.keystore.certificate=" + first.certificate(),
				"spring.ssl.bundle.pem.grpc.keystore.private-key=" + first.privateKey())) {
			assertThat(check(changed, first, null)).isEqualTo(Status.Code.UNAUTHENTICATED);
			PemSslStoreDetails details = PemSslStoreDetails.forCertificate(second.certificate())
				.withPrivateKey(second.privateKey());
			changed.bean(SslBundleRegistry.class)
				.updateBundle("grpc", SslBundle.of(new PemSslStoreBundle(details, null)));
			assertThat(check(changed, first, null)).isEqualTo(Status.Code.UNAVAILABLE);
			assertThat(check(changed, second, null)).isEqualTo(Status.Code.UNAUTHENTICATED);
		}
	}

	@Test
	void ciphersOfTheBundleAreUsed() throws Exception {
		SslOptions options = SslOptions.of(Set.of("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"), Set.of("TLSv1.2"));
		PemSslStoreDetails details = PemSslStoreDetails.forCertificate(server.certificate())
			.withPrivateKey(server.privateKey());
		SslBundle bundle = SslBundle.of(new PemSslStoreBundle(details, null), null, options);
		assertThat(BundleTls.of("grpc", new DefaultSslBundleRegistry("grpc", bundle)).cipherSuites())
			.containsExactly("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
	}

	@Test
	void namesOfCertificatesWithoutATrustStoreFailTheStart() {
		assertThat(GrpcApplication.failure(POLICY[0], POLICY[1], "ratelimit.grpc.ssl.bundle=grpc",
				"ratelimit.grpc.trusted-peers=envoy.example.org",
				"spring.ssl.bundle.pem.grpc.keystore.certificate=" + server.certificate(),
				"spring.ssl.bundle.pem.grpc.keystore.private-key=" + server.privateKey()))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("Set 'ratelimit.grpc.ssl.bundle' to a bundle with a trust store.");
	}

	@Test
	void unknownBundleFailsTheStart() {
		assertThat(GrpcApplication.failure(POLICY[0], POLICY[1], "ratelimit.grpc.ssl.bundle=none"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("ratelimit.grpc.ssl.bundle");
	}

	private static Status.Code check(TestCertificate trusted, @Nullable TestCertificate own) throws Exception {
		return check(application, trusted, own);
	}

	/** The status of a check over a new connection. */
	private static Status.Code check(GrpcApplication application, TestCertificate trusted,
			@Nullable TestCertificate own) throws Exception {
		SslContextBuilder tls = GrpcSslContexts.forClient().trustManager(TestCertificate.stream(trusted.certificate()));
		if (own != null) {
			tls.keyManager(TestCertificate.stream(own.certificate()), TestCertificate.stream(own.privateKey()));
		}
		NettyChannelBuilder channel = NettyChannelBuilder.forAddress("127.0.0.1", application.port())
			.sslContext(tls.build());
		CheckRequest request = CheckRequest.newBuilder().setPolicy("orders").putDimensions("tenant", "acme").build();
		StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
				() -> GrpcApplication.client(application.channel(channel)).check(request));
		return (failure != null) ? failure.getStatus().getCode() : Status.Code.OK;
	}

}
