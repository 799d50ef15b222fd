package dev.ratelimit.grpc;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import io.grpc.BindableService;
import io.grpc.ServerMethodDefinition;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import dev.ratelimit.aop.CallLimits;

/**
 * The gRPC services that are beans: the limits that {@code @RateLimited} gives to their
 * methods, and whether the interceptor has applied them.
 */
final class AnnotatedServices implements CallLimits.Edge {

	/** Names of the services that a class serves. Read when all beans are there. */
	private volatile Map<Class<?>, Set<String>> names = Map.of();

	/**
	 * The limits by the full name of the method.
	 */
	Map<String, CallLimits.Limit> limits(Stream<BindableService> services, CallLimits annotations) {
		Map<String, CallLimits.Limit> limits = new HashMap<>();
		Map<Class<?>, Set<String>> names = new HashMap<>();
		services.forEach((service) -> {
			Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(service));
			for (ServerMethodDefinition<?, ?> method : service.bindService().getMethods()) {
				String name = method.getMethodDescriptor().getFullMethodName();
				names.computeIfAbsent(type, (key) -> new HashSet<>()).add(service(name));
				CallLimits.Limit limit = find(type, name, annotations);
				if (limit != null) {
					limits.put(name, limit);
				}
			}
		});
		this.names = names;
		return limits;
	}

	@Override
	public boolean hasLimited(Class<?> type, Method method) {
		String limited = RateLimitServerInterceptor.limitedMethod();
		if (limited == null || !BindableService.class.isAssignableFrom(type)) {
			return false;
		}
		Set<String> own = this.names.get(type);
		// A class that no bean had at the start may serve any service.
		return (own == null || own.contains(service(limited))) && serves(method, limited);
	}

	private static String service(String fullName) {
		return fullName.substring(0, fullName.lastIndexOf('/'));
	}

	private static CallLimits.@Nullable Limit find(Class<?> type, String name, CallLimits annotations) {
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
			if (serves(method, name)) {
				CallLimits.Limit limit = annotations.find(method, type);
				if (limit != null) {
					return limit;
				}
			}
		}
		return null;
	}

	/**
	 * Whether a method of a service serves calls: it has the name, and is no other method
	 * of that name.
	 * @param name full name of what is called
	 */
	private static boolean serves(Method method, String name) {
		return plain(method.getName()).equals(plain(name.substring(name.lastIndexOf('/') + 1)))
				&& (List.of(method.getParameterTypes()).contains(StreamObserver.class)
						|| KotlinDetector.isSuspendingFunction(method) || isReactive(method.getReturnType()));
	}

	private static boolean isReactive(Class<?> type) {
		return type.getName().equals("kotlinx.coroutines.flow.Flow") || (!CompletionStage.class.isAssignableFrom(type)
				&& ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null);
	}

	/**
	 * Generated code writes the name in its language's style, with an underscore behind a
	 * keyword.
	 */
	private static String plain(String name) {
		return name.replace("_", "").toLowerCase(Locale.ROOT);
	}

}
