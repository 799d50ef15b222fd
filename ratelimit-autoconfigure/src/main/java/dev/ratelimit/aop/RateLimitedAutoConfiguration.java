package dev.ratelimit.aop;

import java.lang.reflect.Proxy;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.task.TaskExecutor;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.UnknownPolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;

/**
 * The annotation on beans, and the answers to refusals on both stacks.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(Advisor.class)
@ConditionalOnBean({ RateLimiter.class, RequestResolver.class, HttpAnswers.class })
@Import(RateLimitedAutoConfiguration.ProxyRegistrar.class)
public final class RateLimitedAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedMethods rateLimitedMethods() {
		return new RateLimitedMethods();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedAdvisor rateLimitedAdvisor(RateLimitedMethods methods, ObjectProvider<RateLimitedAspect> aspect) {
		return new RateLimitedAdvisor(methods, aspect::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ProxyCheck rateLimitedProxyCheck(RateLimitedMethods methods) {
		return new ProxyCheck(methods);
	}

	@Bean
	CallLimits rateLimitedCallLimits(RateLimitedMethods methods) {
		return new CallLimits(methods);
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitedAspect rateLimitedAspect(RateLimitedMethods methods, ObjectProvider<CallLimits.Edge> edges,
			RequestResolver resolver, RateLimiter limiter, HttpAnswers answers,
			ObjectProvider<CurrentCall.Source> currentCall, ObjectProvider<CallTrace.Source> traces,
			ObjectProvider<DecisionListener> listeners,
			@Qualifier("applicationTaskExecutor") ObjectProvider<TaskExecutor> executor) {
		TaskExecutor application = executor.getIfAvailable();
		return new RateLimitedAspect(methods, edges.orderedStream().toList(), resolver, limiter, answers,
				currentCall.getIfAvailable(() -> CurrentCall.Source.NONE),
				traces.getIfAvailable(() -> CallTrace.Source.NONE),
				(application != null) ? application : ForkJoinPool.commonPool(), listeners.orderedStream().toList());
	}

	@Bean
	SmartInitializingSingleton rateLimitedPolicyCheck(RateLimitedMethods methods, Policies policies,
			UnknownPolicies unknown) {
		return () -> methods.known()
			.stream()
			.flatMap((method) -> method.limits().stream())
			.filter((limit) -> policies.get().find(limit.policy()) == null)
			.forEach((limit) -> unknown.found("@RateLimited on " + limit.name(), limit.policy()));
	}

	@Bean
	PolicyUses rateLimitedPolicyUses(RateLimitedMethods methods) {
		return (policy) -> methods.known()
			.stream()
			.filter((method) -> method.names(policy))
			.map((method) -> "@RateLimited on " + method.name())
			.toList();
	}

	/**
	 * Makes sure that proxies are created, as Spring's other annotations do. Otherwise an
	 * application without AspectJ, or with {@code spring.aop.auto} off, would silently
	 * not be limited.
	 */
	static final class ProxyRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

	/**
	 * Fails the start for methods with {@link RateLimited} that no proxy can check.
	 */
	record ProxyCheck(RateLimitedMethods methods) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
			if (!Proxy.isProxyClass(type)) {
				this.methods.requireChecked(type, AopUtils.isJdkDynamicProxy(bean));
			}
			return bean;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class ServletConfiguration {

		@Bean
		CurrentCall.Source rateLimitedCurrentCall() {
			return ServletCurrentCall.SOURCE;
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
		static class MvcConfiguration {

			@Bean
			@ConditionalOnMissingBean
			RateLimitedExceptionResolver rateLimitedExceptionResolver(HttpAnswers answers,
					ObjectProvider<CallTrace.Source> traces, ApplicationContext context) {
				CallTrace.Source found = traces.getIfAvailable(() -> CallTrace.Source.NONE);
				return new RateLimitedExceptionResolver(answers, () -> found.find(null).id(), context);
			}

			@Bean
			DecisionArguments.Mvc rateLimitedDecisionArguments() {
				return new DecisionArguments.Mvc();
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	static class ReactiveConfiguration {

		private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

		@Bean
		@ConditionalOnMissingBean
		ExchangeContextWebFilter rateLimitExchangeContextFilter() {
			return new ExchangeContextWebFilter();
		}

		@Bean
		CurrentCall.Source rateLimitedCurrentCall() {
			return ExchangeCurrentCall.SOURCE;
		}

		@Bean
		@ConditionalOnMissingBean
		RateLimitedWebExceptionHandler rateLimitedWebExceptionHandler(HttpAnswers answers,
				ObjectProvider<CallTrace.Source> traces, ApplicationContext context) {
			return new RateLimitedWebExceptionHandler(answers, traces.getIfAvailable(() -> CallTrace.Source.NONE),
					context);
		}

		@Bean
		DecisionArguments.Flux rateLimitedDecisionArguments() {
			return new DecisionArguments.Flux();
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static BlockingHandlers rateLimitedBlockingHandlers(ConfigurableListableBeanFactory beans) {
			return new BlockingHandlers(beans);
		}

		@Bean
		RateLimitedHandlerAdapter rateLimitedHandlerAdapter(RateLimitedMethods methods, RateLimitedAspect aspect,
				ObjectProvider<CallTrace.Source> traces, RateLimitedWebExceptionHandler refusals,
				BlockingHandlers blocking, ApplicationContext context) {
			return new RateLimitedHandlerAdapter(methods, aspect, traces.getIfAvailable(() -> CallTrace.Source.NONE),
					refusals, blocking, context);
		}

		@Bean
		SmartInitializingSingleton rateLimitedPlainMethodCheck(RateLimitedMethods methods) {
			return () -> methods.known().stream().filter(RateLimitedMethod::isPlainBeanMethod).forEach(this::warn);
		}

		private void warn(RateLimitedMethod method) {
			logger.warn("@RateLimited on {}: a call on an event loop does not know its caller, except in the body of a"
					+ " limited handler, and cannot wait for a decision. The failure mode of policy '{}' answers, unless"
					+ " its limits need no caller and the decision is available at once. Let the method return a Mono"
					+ " or a Flux", method.name(),
					method.limits().stream().map(MethodLimit::policy).distinct().collect(Collectors.joining("', '")));
		}

	}

}
