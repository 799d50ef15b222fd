package dev.ratelimit.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;

/**
 * The methods with {@link RateLimited}. Each is read when its bean is created.
 */
final class RateLimitedMethods {

	private static final String WEB = "org.springframework.web.bind.annotation.";

	private static final String EXCHANGE = "org.springframework.web.service.annotation.HttpExchange";

	/** What the generated base class of a gRPC service returns: it serves no call. */
	private static final String GRPC_BINDING = "io.grpc.ServerServiceDefinition";

	private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}");

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	/** By the called method, which may be that of an interface. */
	private final Map<MethodClassKey, RateLimitedMethod> called = new ConcurrentHashMap<>();

	/** By the annotated method. */
	private final Map<MethodClassKey, RateLimitedMethod> known = new ConcurrentHashMap<>();

	/** Classes with limited methods. */
	private final Set<Class<?>> types = ConcurrentHashMap.newKeySet();

	/**
	 * All methods found so far, for checks at start-up.
	 */
	List<RateLimitedMethod> known() {
		return List.copyOf(this.known.values());
	}

	/**
	 * All limited methods of a class, also those that no proxy can check.
	 */
	List<RateLimitedMethod> ofClass(Class<?> type) {
		return Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type, ReflectionUtils.USER_DECLARED_METHODS))
			.map((method) -> find(method, type))
			.filter((method) -> method != null)
			.toList();
	}

	/**
	 * The annotation of a method of a class, {@code null} if it is not limited.
	 * @throws InvalidAnnotationException if the annotation is invalid
	 */
	@Nullable RateLimitedMethod find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		RateLimitedMethod found = this.called.get(key);
		if (found == null) {
			// A bean that is a proxy itself has its annotations on its interfaces.
			Method specific = Proxy.isProxyClass(targetClass)
					? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
					: AopUtils.getMostSpecificMethod(method, targetClass);
			List<RateLimited> annotations = annotations(specific, targetClass);
			if (!annotations.isEmpty()) {
				found = this.known.computeIfAbsent(new MethodClassKey(specific, targetClass),
						(absent) -> read(annotations, specific, targetClass));
				this.called.put(key, found);
				this.types.add(targetClass);
			}
		}
		return found;
	}

	/**
	 * Checks that calls of all limited methods of a class pass its proxy.
	 * @param byInterfaces whether the proxy implements interfaces, so that it overrides
	 * final methods too
	 * @throws InvalidAnnotationException naming the method and the fix
	 */
	void requireChecked(Class<?> type, boolean byInterfaces) {
		if (!this.types.contains(type)) {
			return;
		}
		for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
			int modifiers = method.getModifiers();
			String fix = Modifier.isStatic(modifiers) ? "static: make it a method of the bean"
					: Modifier.isPrivate(modifiers) ? "private: make it package-private or public"
							: (Modifier.isFinal(modifiers) && !byInterfaces) ? "final: remove 'final'" : null;
			if (fix != null && !isSprings(method) && !annotations(method, type).isEmpty()) {
				throw new InvalidAnnotationException("@RateLimited on " + type.getSimpleName() + "." + method.getName()
						+ ": no proxy can check calls of a method that is " + fix + ", or take the annotation from it");
			}
			if (!byInterfaces && isCalledPastTheController(method, type)) {
				throw new InvalidAnnotationException(type.getSimpleName() + "." + method.getName()
						+ " serves handlers with @RateLimited, but no proxy can override it, so that it would run without"
						+ " the fields of its bean: make it public and not final");
			}
			find(method, type);
		}
	}

	/** Spring would call the method on the proxy itself, which has no fields. */
	private static boolean isCalledPastTheController(Method method, Class<?> type) {
		return !canBeOverridden(method, type) && !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()
				&& !isSprings(method) && servesHandlers(method);
	}

	/**
	 * Whether a proxy class of a type can override one of its methods.
	 */
	static boolean canBeOverridden(Method method, Class<?> type) {
		int modifiers = method.getModifiers();
		boolean visible = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
				|| method.getDeclaringClass().getPackage() == type.getPackage();
		return visible && (modifiers & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0;
	}

	/** Base classes of Spring have final setters, which are never meant. */
	private static boolean isSprings(Method method) {
		return method.getDeclaringClass().getName().startsWith("org.springframework.");
	}

	private static List<RateLimited> annotations(Method method, Class<?> targetClass) {
		if (method.isSynthetic()) {
			// Kotlin's compiler moves bodies to methods of its own and copies
			// annotations.
			return List.of();
		}
		List<RateLimited> own = nearest(method);
		boolean both = own.stream().anyMatch(RateLimited::withClass);
		if ((!own.isEmpty() && !both) || !(both || isCoveredByClass(method, targetClass))) {
			return own;
		}
		List<RateLimited> all = new ArrayList<>(own);
		all.addAll(nearest(targetClass));
		return all;
	}

	/**
	 * The annotations of the first element that has some: those of a method, or of the
	 * method that it overrides or implements.
	 */
	private static List<RateLimited> nearest(AnnotatedElement element) {
		List<MergedAnnotation<RateLimited>> all = MergedAnnotations
			.from(element, SearchStrategy.TYPE_HIERARCHY,
					RepeatableContainers.of(RateLimited.class, RateLimited.List.class))
			.stream(RateLimited.class)
			.toList();
		int first = all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElse(0);
		return all.stream()
			.filter((annotation) -> annotation.getAggregateIndex() == first)
			.map(MergedAnnotation::synthesize)
			.toList();
	}

	/**
	 * The annotation on a class covers the methods that others call, not those that serve
	 * its handlers: otherwise a request would count twice, or the answer to a refusal
	 * would be refused.
	 */
	private static boolean isCoveredByClass(Method method, Class<?> targetClass) {
		if (!Modifier.isPublic(method.getModifiers()) || Modifier.isStatic(method.getModifiers())
				|| ReflectionUtils.isObjectMethod(method) || method.getReturnType().getName().equals(GRPC_BINDING)) {
			return false;
		}
		return isHandler(method, targetClass) || !servesHandlers(method);
	}

	private static boolean servesHandlers(Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return annotations.isPresent(WEB + "ExceptionHandler") || annotations.isPresent(WEB + "InitBinder")
				|| annotations.isPresent(WEB + "ModelAttribute");
	}

	/** {@code @HttpExchange} is for clients too, which are no controllers. */
	private static boolean isHandler(Method method, Class<?> targetClass) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return annotations.isPresent(WEB + "RequestMapping") || (annotations.isPresent(EXCHANGE)
				&& MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).isPresent(Controller.class));
	}

	private RateLimitedMethod read(List<RateLimited> annotations, Method method, Class<?> targetClass) {
		Class<?> type = Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : targetClass;
		String name = type.getSimpleName() + "." + method.getName();
		try {
			if (Modifier.isFinal(type.getModifiers()) && ClassUtils.getAllInterfacesForClass(type).length == 0) {
				throw new IllegalArgumentException("no proxy can check calls of a class that is final: remove 'final'"
						+ " (in Kotlin make it open, or use the plugin kotlin-spring)");
			}
			List<String> parameters = parameters(method);
			List<MethodLimit> limits = annotations.stream()
				.map((annotation) -> limit(annotation, name, parameters))
				.toList();
			String fallback = fallback(annotations);
			Class<?> returnType = ReturnKind.type(method);
			return new RateLimitedMethod(name, limits, returnType, ReturnKind.of(returnType),
					isHandler(method, targetClass), List.of(method.getParameterTypes()).indexOf(Decision.class),
					(fallback == null) ? null : FallbackMethod.find(fallback, method, type));
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotationException("@RateLimited on " + name + ": " + ex.getMessage());
		}
	}

	private static MethodLimit limit(RateLimited annotation, String name, List<String> parameters) {
		if (annotation.policy().isBlank()) {
			throw new IllegalArgumentException("names no policy, write for example @RateLimited(\"orders\")");
		}
		Long constantCost = constantCost(annotation.cost().strip());
		ArgumentExpression cost = (constantCost == null) ? expression(annotation.cost(), parameters) : null;
		return new MethodLimit(name, annotation.policy(), constantCost, cost, expression(annotation.key(), parameters),
				expression(annotation.condition(), parameters));
	}

	private static @Nullable String fallback(List<RateLimited> annotations) {
		List<String> names = annotations.stream()
			.map((annotation) -> annotation.fallbackMethod().strip())
			.filter((name) -> !name.isEmpty())
			.distinct()
			.toList();
		if (names.size() > 1) {
			throw new IllegalArgumentException("several fallback methods (" + String.join(", ", names)
					+ ") cannot answer one call: name the same one in all annotations of the method");
		}
		return names.isEmpty() ? null : names.get(0);
	}

	private static @Nullable Long constantCost(String text) {
		if (!NUMBER.matcher(text).matches()) {
			return null;
		}
		long cost = Long.parseLong(text);
		if (cost < 0 || cost > Quota.MAX_PERMITS) {
			throw new IllegalArgumentException("cost must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
		}
		return cost;
	}

	private static @Nullable ArgumentExpression expression(String text, List<String> parameters) {
		return text.isBlank() ? null : ArgumentExpression.parse(text, parameters);
	}

	private List<String> parameters(Method method) {
		String[] discovered = this.names.getParameterNames(method);
		List<String> parameters = new ArrayList<>(method.getParameterCount());
		for (int i = 0; i < method.getParameterCount(); i++) {
			// The parameter that Kotlin adds to suspending functions has no name.
			parameters.add((discovered != null && i < discovered.length) ? discovered[i] : "p" + i);
		}
		return parameters;
	}

}
