package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import dev.ratelimit.Quota;

/**
 * The methods that {@link RateLimited} holds for. Each is read when its bean is created.
 */
public final class RateLimitedMethods {

	private static final String WEB = "org.springframework.web.bind.annotation.";

	private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}");

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	/** As they are called: through a class, or through an interface of it. */
	private final Map<MethodClassKey, RateLimitedMethod> called = new ConcurrentHashMap<>();

	/** As they are written. */
	private final Map<MethodClassKey, RateLimitedMethod> known = new ConcurrentHashMap<>();

	/**
	 * All methods found so far, for checks at start-up.
	 */
	public List<RateLimitedMethod> known() {
		return List.copyOf(this.known.values());
	}

	/**
	 * What holds for a method of a class, {@code null} if it is not limited.
	 * @throws IllegalStateException if the annotation cannot be meant
	 */
	@Nullable RateLimitedMethod find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		RateLimitedMethod found = this.called.get(key);
		if (found == null) {
			// What a bean that is a proxy itself can do is written in its interfaces.
			Method specific = Proxy.isProxyClass(targetClass)
					? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
					: AopUtils.getMostSpecificMethod(method, targetClass);
			RateLimited annotation = annotation(specific, targetClass);
			if (annotation != null) {
				found = this.known.computeIfAbsent(new MethodClassKey(specific, targetClass),
						(absent) -> read(annotation, specific, targetClass));
				this.called.put(key, found);
			}
		}
		return found;
	}

	private static @Nullable RateLimited annotation(Method method, Class<?> targetClass) {
		RateLimited own = AnnotatedElementUtils.findMergedAnnotation(method, RateLimited.class);
		if (own != null) {
			return own;
		}
		return isCoveredByClass(method) ? AnnotatedElementUtils.findMergedAnnotation(targetClass, RateLimited.class)
				: null;
	}

	/**
	 * A class speaks for what others call it for, not for what serves its own handlers: a
	 * request must not be counted twice, or the answer to a refusal be refused.
	 */
	private static boolean isCoveredByClass(Method method) {
		if (!Modifier.isPublic(method.getModifiers()) || method.isSynthetic()
				|| ReflectionUtils.isObjectMethod(method)) {
			return false;
		}
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return isHandler(method) || !(annotations.isPresent(WEB + "ExceptionHandler")
				|| annotations.isPresent(WEB + "InitBinder") || annotations.isPresent(WEB + "ModelAttribute"));
	}

	private static boolean isHandler(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(WEB + "RequestMapping");
	}

	private RateLimitedMethod read(RateLimited annotation, Method method, Class<?> targetClass) {
		Class<?> type = Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : targetClass;
		String name = type.getSimpleName() + "." + method.getName();
		try {
			if (annotation.policy().isBlank()) {
				throw new IllegalArgumentException("names no policy, write for example @RateLimited(\"orders\")");
			}
			List<String> parameters = parameters(method);
			Long constantCost = constantCost(annotation.cost().strip());
			ArgumentExpression cost = (constantCost == null) ? expression(annotation.cost(), parameters) : null;
			return new RateLimitedMethod(name, annotation.policy(), method.getReturnType(), isHandler(method),
					constantCost, cost, expression(annotation.key(), parameters));
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalStateException("@RateLimited on " + name + ": " + ex.getMessage(), ex);
		}
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
			parameters.add((discovered != null) ? discovered[i] : "p" + i);
		}
		return parameters;
	}

}
