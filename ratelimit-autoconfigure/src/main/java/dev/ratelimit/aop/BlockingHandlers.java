package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.DelegatingWebFluxConfiguration;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import reactor.core.scheduler.Schedulers;

/**
 * Makes WebFlux call some handlers on threads that may block: those that return a plain
 * value and whose decision needs their arguments. Uses the application's executor if it
 * has one, and leaves the handlers alone that the application moves there itself. Neither
 * setting can be read from the adapter, so the configurers are asked again.
 */
final class BlockingHandlers implements BeanPostProcessor {

	private static final String[] REGISTRATIONS = {
			"org.springframework.boot.autoconfigure.web.reactive.WebFluxRegistrations",
			"org.springframework.boot.webflux.autoconfigure.WebFluxRegistrations" };

	private final ConfigurableListableBeanFactory beans;

	private volatile boolean possible;

	BlockingHandlers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String name) {
		if (bean instanceof RequestMappingHandlerAdapter adapter && isMadeByConfigurers(name)) {
			Settings settings = new Settings();
			this.beans.getBeanProvider(WebFluxConfigurer.class)
				.orderedStream()
				.forEach((configurer) -> configurer.configureBlockingExecution(settings));
			configure(adapter, settings);
			this.possible = true;
		}
		return bean;
	}

	/**
	 * Whether handlers can be moved: not if the application has created the adapter in
	 * another way, because its settings are unknown then.
	 */
	boolean arePossible() {
		return this.possible;
	}

	private static void configure(RequestMappingHandlerAdapter adapter, Settings settings) {
		Predicate<HandlerMethod> own = settings.getBlockingControllerMethodPredicate();
		if (settings.getExecutor() == null) {
			Executor executor = Schedulers.boundedElastic()::schedule;
			adapter.setBlockingExecutor(executor);
			adapter.setBlockingMethodPredicate(BoundHandlerMethod::mayBlock);
		}
		else if (own != null) {
			adapter.setBlockingMethodPredicate(own.or(BoundHandlerMethod::mayBlock));
		}
		// Otherwise Spring moves all handlers that are no publishers.
	}

	private boolean isMadeByConfigurers(String name) {
		String factory = this.beans.containsBeanDefinition(name)
				? this.beans.getMergedBeanDefinition(name).getFactoryBeanName() : null;
		return factory != null && this.beans.isTypeMatch(factory, DelegatingWebFluxConfiguration.class)
				&& Stream.of(REGISTRATIONS).noneMatch(this::isRegistered);
	}

	/** Boot lets an application create the adapter itself. */
	private boolean isRegistered(String registrations) {
		ClassLoader loader = this.beans.getBeanClassLoader();
		if (!ClassUtils.isPresent(registrations, loader)) {
			return false;
		}
		return Stream
			.of(this.beans.getBeanNamesForType(ClassUtils.resolveClassName(registrations, loader), true, false))
			.map(this.beans::getType)
			.anyMatch((type) -> {
				Method method = (type != null) ? ReflectionUtils.findMethod(type, "getRequestMappingHandlerAdapter")
						: null;
				return method != null && !method.getDeclaringClass().isInterface();
			});
	}

	/** The application's settings. */
	private static final class Settings extends BlockingExecutionConfigurer {

		@Override
		protected @Nullable AsyncTaskExecutor getExecutor() {
			return super.getExecutor();
		}

		@Override
		protected @Nullable Predicate<HandlerMethod> getBlockingControllerMethodPredicate() {
			return super.getBlockingControllerMethodPredicate();
		}

	}

}
