package dev.ratelimit.grpc;

import java.net.InetAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.web.WebCall;

/**
 * A gRPC call as the resolver of HTTP calls sees it: metadata are its headers. No
 * forwarded address and no request id is read from them, since gRPC has trusted peers for
 * that.
 *
 * @param path path of the method
 * @param route what is called, {@code null} if the caller's message says it
 * @param apiKeys the API keys of the caller, {@code null} for those in the metadata
 * @param apiKeyHeader name of the metadata that hold an API key
 */
record MessageCall(String path, @Nullable String route, Metadata metadata, Peer peer, @Nullable Principal principal,
		@Nullable List<String> apiKeys, String apiKeyHeader) implements WebCall {

	@Override
	public String rawPath() {
		return this.path;
	}

	@Override
	public List<String> headers(String name) {
		if (this.apiKeys != null && name.equalsIgnoreCase(this.apiKeyHeader)) {
			return this.apiKeys;
		}
		String key = name.toLowerCase(Locale.ROOT);
		if (key.equals("x-forwarded-for") || key.equals("x-request-id")) {
			return List.of();
		}
		return values(key);
	}

	private List<String> values(String key) {
		if (key.endsWith(Metadata.BINARY_HEADER_SUFFIX) || !this.metadata.keys().contains(key)) {
			return List.of();
		}
		Iterable<String> values = this.metadata.getAll(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER));
		List<String> list = new ArrayList<>(1);
		if (values != null) {
			values.forEach(list::add);
		}
		return list;
	}

	@Override
	public @Nullable InetAddress remoteAddress() {
		return this.peer.address();
	}

	@Override
	public boolean forwards() {
		return false;
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "MessageCall[path=" + this.path + "]";
	}

}
