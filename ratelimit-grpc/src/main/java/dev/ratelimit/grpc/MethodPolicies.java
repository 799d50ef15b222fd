package dev.ratelimit.grpc;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * The policies of an application's own gRPC methods. The method beats its service.
 */
final class MethodPolicies {

	private static final Pattern METHOD = Pattern.compile("[A-Za-z_][\\w.]*/(\\*|[A-Za-z_]\\w*)");

	private final Map<String, String> policies;

	/**
	 * Reads the setting.
	 * @param methods ids of policies by {@code service/Method} or {@code service/*}
	 * @throws InvalidPolicyException naming the entry and the fix
	 */
	MethodPolicies(Map<String, String> methods) {
		methods.keySet().forEach((method) -> {
			if (!METHOD.matcher(method).matches()) {
				String at = "ratelimit.grpc.methods[" + method + "]";
				throw new InvalidPolicyException(at, "'" + at + "' is not a gRPC method.",
						"Write '[orders.v1.Orders/Create]' for a method or '[orders.v1.Orders/*]' for all methods of a service.");
			}
		});
		this.policies = new HashMap<>(methods);
	}

	/**
	 * The policy of a method, {@code null} if it has none.
	 * @param method full name of the method
	 */
	@Nullable String find(String method) {
		String policy = this.policies.get(method);
		return (policy != null) ? policy : this.policies.get(method.substring(0, method.lastIndexOf('/') + 1) + "*");
	}

}
