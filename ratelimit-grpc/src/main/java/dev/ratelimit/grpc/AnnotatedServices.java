package dev.ratelimit.grpc;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import io.grpc.BindableService;
import io.grpc.ServerMethodDefinition;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import dev.ratelimit.aop.CallLimits;

/**
 * Finds the limits that {@code @RateLimited} gives to the methods of gRPC services.
 */
final class AnnotatedServices {

	private AnnotatedServices() {
	}

	/**
	 * The limits by the full name of the method.
	 * @throws IllegalStateException if an annotation needs the arguments of a call
	 */
	static Map<String, CallLimits.Limit> limits(Stream<BindableService> services, CallLimits annotations) {
		Map<String, CallLimits.Limit> limits = new HashMap<>();
		services.forEach((service) -> {
			Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(service));
			for (ServerMethodDefinition<?, ?> method : service.bindService().getMethods()) {
				String name = method.getMethodDescriptor().getFullMethodName();
				CallLimits.Limit limit = find(type, name.substring(name.lastIndexOf('/') + 1), annotations);
				if (limit != null) {
					limits.put(name, limit);
				}
			}
		});
		return limits;
	}

	private static CallLimits.@Nullable Limit find(Class<?> type, String name, CallLimits annotations) {
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
			if (plain(method.getName()).equals(plain(name))) {
				CallLimits.Limit limit = annotations.find(method, type);
				if (limit != null) {
					return limit;
				}
			}
		}
		return null;
	}

	/**
	 * Generated code writes the name in its language's style, with an underscore behind a
	 * keyword.
	 */
	private static String plain(String name) {
		return name.replace("_", "").toLowerCase(Locale.ROOT);
	}

}
