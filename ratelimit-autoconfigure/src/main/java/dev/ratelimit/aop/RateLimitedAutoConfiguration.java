package dev.ratelimit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.task.TaskExecutor;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.aop.BlockingHandlers;
import dev.ratelimit.aop.CurrentCall;
import dev.ratelimit.aop.ExchangeCurrentCall;
import dev.ratelimit.aop.RateLimitedAdvisor;
import dev.ratelimit.aop.RateLimitedAspect;
import dev.ratelimit.aop.RateLimitedExceptionResolver;
import dev.ratelimit.aop.RateLimitedHandlerAdapter;
import dev.ratelimit.aop.RateLimitedMethod;
import dev.ratelimit.aop.RateLimitedMethods;
import dev.ratelimit.aop.RateLimitedProxyCheck;
import dev.ratelimit.aop.RateLimitedProxyRegistrar;
import dev.ratelimit.aop.RateLimitedWebExceptionHandler;
import dev.ratelimit.aop.ServletCurrentCall;
import dev.ratelimit.control.ControlPlane;
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
@Import(RateLimitedProxyRegistrar.class)
public class RateLimitedAutoConfiguration {

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
	static RateLimitedProxyCheck rateLimitedProxyCheck(RateLimitedMethods methods) {
		return new RateLimitedProxyCheck(methods);
	}

	@Bean
	@ConditionalOnMissingBean
	RateLimitedAspect rateLimitedAspect(RateLimitedMethods methods, RequestResolver resolver, RateLimiter limiter,
			HttpAnswers answers, ObjectProvider<CurrentCall.Source> currentCall,
			ObjectProvider<CallTrace.Source> traces,
			@Qualifier("applicationTaskExecutor") ObjectProvider<TaskExecutor> executor) {
		Executor fallback = ForkJoinPool.commonPool();
		TaskExecutor application = executor.getIfAvailable();
		return new RateLimitedAspect(methods, resolver, limiter, answers,
				currentCall.getIfAvailable(() -> CurrentCall.Source.NONE),
				traces.getIfAvailable(() -> CallTrace.Source.NONE), (application != null) ? application : fallback);
	}

	@Bean
	SmartInitializingSingleton rateLimitedPolicyCheck(RateLimitedMethods methods, Policies policies,
			ObjectProvider<ControlPlane> control) {
		return () -> methods.known()
			.stream()
			.filter((method) -> policies.get().find(method.policy()) == null)
			.forEach((method) -> UnknownPolicy.found("@RateLimited on " + method.name(), method.policy(), policies,
					control.getIfAvailable()));
	}

	@Bean
	PolicyUses rateLimitedPolicyUses(RateLimitedMethods methods) {
		return (policy) -> methods.known()
			.stream()
			.filter((method) -> method.policy().equals(policy))
			.map((method) -> "@RateLimited on " + method.name())
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class ServletConfiguration {

		@Bean
		CurrentCall.Source rateLimitedCurrentCall() {
			return ServletCurrentCall::find;
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
		static class MvcConfiguration {

			@Bean
			@ConditionalOnMissingBean
			RateLimitedExceptionResolver rateLimitedExceptionResolver(HttpAnswers answers,
					ObjectProvider<CallTrace.Source> traces) {
				CallTrace.Source found = traces.getIfAvailable(() -> CallTrace.Source.NONE);
				return new RateLimitedExceptionResolver(answers, () -> found.find(null).id());
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
				ObjectProvider<CallTrace.Source> traces) {
			return new RateLimitedWebExceptionHandler(answers, traces.getIfAvailable(() -> CallTrace.Source.NONE));
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
			logger.warn("@RateLimited on {}: a call on an event loop does not know who calls, except in the body of a"
					+ " limited handler, and cannot wait for a decision. The failure mode of policy '{}' answers, unless"
					+ " its limits need no caller and the decision is there at once. Let the method return a Mono or a"
					+ " Flux", method.name(), method.policy());
		}

	}

}
