package dev.ratelimit.grpc;

import java.util.List;
import java.util.Map;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the gRPC server and of the interceptor.
 *
 * @param enabled Whether the server runs.
 * @param port Port of the server; 0 takes any free one.
 * @param address Address to bind to, or a Unix domain socket such as
 * unix:/run/ratelimit.sock; empty for all addresses.
 * @param ssl TLS of the server.
 * @param reflection Whether clients may ask for the services and their messages.
 * @param trustedPeers Peers whose facts about callers are believed: networks such as
 * 10.0.0.0/8, DNS or URI names in the certificates of clients, or unix for the Unix
 * domain socket.
 * @param methods Policies of the application's own gRPC methods, by "[service/Method]" or
 * "[service/*]", for the interceptor.
 * @param perMessage Those of the methods of which each message of a caller is charged, as
 * "service/Method" or "service/*"; of all others, the call is charged once.
 * @param envoy Envoy's rate-limit service.
 */
@ConfigurationProperties("ratelimit.grpc")
public record GrpcProperties(@DefaultValue("false") boolean enabled, @DefaultValue("8082") int port,
		@DefaultValue("") String address, @DefaultValue Ssl ssl, @DefaultValue("false") boolean reflection,
		@DefaultValue List<String> trustedPeers, @DefaultValue Map<String, String> methods,
		@DefaultValue List<String> perMessage, @DefaultValue Envoy envoy) {

	/**
	 * TLS of the server.
	 *
	 * @param bundle Name of a bundle under spring.ssl.bundle; with a trust store in it,
	 * clients may present certificates.
	 */
	public record Ssl(@DefaultValue("") String bundle) {
	}

	/**
	 * Envoy's rate-limit service.
	 *
	 * @param onDeny Answer when the limiter cannot decide and the policy fails closed.
	 * @param domains What the descriptors of Envoy's domains mean.
	 */
	public record Envoy(@DefaultValue("over-limit") OnDeny onDeny, @DefaultValue Map<String, Domain> domains) {
	}

	/**
	 * What the descriptors of one of Envoy's domains mean.
	 *
	 * @param policy Policy that decides, unless policy-from names one.
	 * @param policyFrom Key of the entry whose value is the id of the policy.
	 * @param entries Dimensions by the keys of entries; other entries are ignored.
	 * @param settle Whether explicit hits above 0 are charged afterwards, without a
	 * check, as Envoy's apply_on_stream_done needs it.
	 */
	public record Domain(@DefaultValue("") String policy, @DefaultValue("") String policyFrom,
			@DefaultValue Map<String, String> entries, @DefaultValue("false") boolean settle) {
	}

	/**
	 * Answer when the limiter cannot decide and the policy fails closed.
	 */
	public enum OnDeny {

		/** OVER_LIMIT: Envoy refuses whatever its own failure mode is. */
		OVER_LIMIT,

		/** The error UNAVAILABLE: Envoy's own failure mode decides. */
		UNAVAILABLE

	}

}
