package dev.ratelimit.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A call without a server.
 */
record TestCall(String rawPath, String route, Map<String, List<String>> fields, InetAddress remoteAddress,
		Principal principal) implements WebCall {

	static IdentityOptions options(String tenantClaim, String userClaim, String tierClaim, String apiKeyHeader,
			Map<String, ApiKeyVerifier.VerifiedKey> apiKeys, int trustedHops, List<String> trustedProxies) {
		return new IdentityOptions(tenantClaim, userClaim, tierClaim, apiKeyHeader, "", "", Map.of(), apiKeys,
				trustedHops, trustedProxies, false, 64, IdentityOptions.DEFAULTS.hash(), List.of());
	}

	static TestCall from(String address) {
		return new TestCall("/orders", "orders-route", Map.of(), address(address), null);
	}

	TestCall path(String path) {
		return new TestCall(path, this.route, this.fields, this.remoteAddress, this.principal);
	}

	TestCall route(String route) {
		return new TestCall(this.rawPath, route, this.fields, this.remoteAddress, this.principal);
	}

	TestCall header(String name, String... values) {
		Map<String, List<String>> fields = new TreeMap<>(this.fields);
		fields.put(name.toLowerCase(Locale.ROOT), List.of(values));
		return new TestCall(this.rawPath, this.route, fields, this.remoteAddress, this.principal);
	}

	TestCall parameter(String name, String... values) {
		return header("?" + name, values);
	}

	@Override
	public List<String> query(String name) {
		return headers("?" + name);
	}

	TestCall as(Principal principal) {
		return new TestCall(this.rawPath, this.route, this.fields, this.remoteAddress, principal);
	}

	TestCall withoutAddress() {
		return new TestCall(this.rawPath, this.route, this.fields, null, this.principal);
	}

	@Override
	public List<String> headers(String name) {
		return this.fields.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
	}

	private static InetAddress address(String literal) {
		try {
			return InetAddress.getByName(literal);
		}
		catch (UnknownHostException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

}
