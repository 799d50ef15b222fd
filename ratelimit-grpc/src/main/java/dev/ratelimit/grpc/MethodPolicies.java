package dev.ratelimit.grpc;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.aop.CallLimits;
import dev.ratelimit.config.InvalidPolicyException;

/**
 * The limits of an application's own gRPC methods. The setting beats the annotation, and
 * the method beats its service.
 */
final class MethodPolicies {

	private static final Pattern METHOD = Pattern.compile("[A-Za-z_][\\w.]*/(\\*|[A-Za-z_]\\w*)");

	private final Map<String, String> policies;

	private final Set<String> perMessage;

	/** Read when all services are there. */
	private volatile Map<String, CallLimits.Limit> annotated = Map.of();

	/**
	 * Reads the settings.
	 * @param methods ids of policies by {@code service/Method} or {@code service/*}
	 * @param perMessage which of the methods are charged for each message
	 * @throws InvalidPolicyException naming the entry and the fix
	 */
	MethodPolicies(Map<String, String> methods, List<String> perMessage) {
		methods.keySet().forEach((method) -> requireMethod("ratelimit.grpc.methods[" + method + "]", method));
		for (int i = 0; i < perMessage.size(); i++) {
			requireMethod("ratelimit.grpc.per-message[" + i + "]", perMessage.get(i));
		}
		this.policies = new HashMap<>(methods);
		this.perMessage = Set.copyOf(perMessage);
	}

	private static void requireMethod(String at, String method) {
		if (!METHOD.matcher(method).matches()) {
			throw new InvalidPolicyException(at, "'" + at + "' is not a gRPC method.",
					"Write 'orders.v1.Orders/Create' for a method or 'orders.v1.Orders/*' for all methods of a service,"
							+ " as a key in brackets.");
		}
	}

	/**
	 * Adds the limits of annotations.
	 * @param annotated by the full name of the method
	 * @throws InvalidPolicyException if a method that is charged for each message has no
	 * limit
	 */
	void annotated(Map<String, CallLimits.Limit> annotated) {
		this.annotated = Map.copyOf(annotated);
		this.perMessage.forEach((method) -> {
			if (!isLimited(method, this.policies.keySet()) && !isLimited(method, annotated.keySet())) {
				throw new InvalidPolicyException("ratelimit.grpc.per-message",
						"'ratelimit.grpc.per-message' has '" + method + "', which has no policy.",
						"Set 'ratelimit.grpc.methods[" + method + "]' to the id of a policy.");
			}
		});
	}

	private static boolean isLimited(String method, Collection<String> limited) {
		String service = method.endsWith("/*") ? method.substring(0, method.length() - 1) : null;
		return limited.contains(method) || limited.contains(all(method))
				|| (service != null && limited.stream().anyMatch((name) -> name.startsWith(service)));
	}

	/**
	 * The limit of a method, {@code null} if it has none.
	 * @param method full name of the method
	 */
	@Nullable Limit find(String method) {
		String policy = this.policies.get(method);
		if (policy == null) {
			policy = this.policies.get(all(method));
		}
		boolean messages = this.perMessage.contains(method) || this.perMessage.contains(all(method));
		if (policy != null) {
			return new Limit(policy, null, messages);
		}
		CallLimits.Limit annotation = this.annotated.get(method);
		return (annotation != null) ? new Limit(annotation.policy(), annotation.cost(), messages) : null;
	}

	private static String all(String method) {
		return method.substring(0, method.lastIndexOf('/') + 1) + "*";
	}

	/**
	 * How a method is limited.
	 *
	 * @param policy id of the policy
	 * @param cost {@code null} if the policy decides it
	 * @param perMessage whether each message is charged, or only the call
	 */
	record Limit(String policy, @Nullable Long cost, boolean perMessage) {
	}

}
