package dev.ratelimit.autoconfigure;

import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.config.DimensionMapper;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.PolicyWarnings;
import dev.ratelimit.config.PropertyCheck;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.fleet.SwitchStore;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotStore;
import dev.ratelimit.hot.LocalHotStore;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.penalty.PenaltyListener;
import dev.ratelimit.penalty.PenaltyStore;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.split.HotSplits;
import dev.ratelimit.split.MarkedSplits;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.web.ApiKeyVerifier;
import dev.ratelimit.web.CallerResolver;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.ProblemCustomizer;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.TrustedProxies;

/**
 * The limiter itself: policies, counters in memory unless another auto-configuration
 * brought some, and what the edges need.
 */
@AutoConfiguration(after = RateLimitRedisAutoConfiguration.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@EnableConfigurationProperties(RateLimitProperties.class)
@Import({ HashingConfiguration.class, MissingLettuce.class, RefusedConnectionsConfiguration.class })
public final class RateLimitAutoConfiguration {

	/** Bean of the counters that are in this process only. */
	static final String MEMORY_COUNTERS = "rateLimitMemoryCounters";

	private static final int MAX_HOT = 10_000;

	/** How many versions of a policy are looked through for a good one. */
	private static final int OLDER = 20;

	@Bean
	static PropertyCheck rateLimitPropertyCheck(ConfigurableEnvironment environment) {
		return new PropertyCheck(environment);
	}

	@Bean
	@ConditionalOnMissingBean
	PolicyMapper rateLimitPolicyMapper(RateLimitProperties properties, Map<String, DimensionResolver> resolvers) {
		Map<String, DimensionResolver> dimensions = DimensionMapper.map(properties.dimensions(), resolvers);
		return new PolicyMapper(dimensions.keySet(), DimensionMapper.chosen(dimensions),
				properties.identity().hash().longestWindow());
	}

	@Bean
	@ConditionalOnMissingBean
	Policies rateLimitPolicies(RateLimitProperties properties, PolicyMapper mapper,
			Map<String, DimensionResolver> resolvers) {
		Policies policies = new Policies(mapper.map(properties));
		PolicyWarnings.log(properties, policies.get(), DimensionMapper.map(properties.dimensions(), resolvers));
		return policies;
	}

	@Bean
	@ConditionalOnMissingBean
	RecordReader rateLimitRecordReader(PolicyMapper mapper) {
		return new PolicyDocuments(mapper);
	}

	@Bean
	@ConditionalOnMissingBean
	LivePolicies rateLimitLivePolicies(Policies policies, RecordReader reader, ObjectProvider<PolicyStore> store) {
		return new LivePolicies(policies, policies::replace, reader,
				(key) -> store.getObject()
					.history(key, OLDER)
					.exceptionally((failure) -> List.of())
					.toCompletableFuture()
					.completeOnTimeout(List.of(), 1, TimeUnit.SECONDS)
					.join());
	}

	@Bean
	@ConditionalOnMissingBean
	CounterKeys rateLimitCounterKeys(RateLimitProperties properties, Epochs epochs) {
		return PolicyMapper.checked("Set 'ratelimit.key-prefix' to 1 to 8 lower-case letters, digits and dashes.",
				() -> new CounterKeys(properties.keyPrefix(), properties.identity().hash().dimensions(), epochs));
	}

	@Bean(MEMORY_COUNTERS)
	@ConditionalOnMissingBean(Counters.class)
	MemoryCounters rateLimitMemoryCounters(RateLimitProperties properties, HotCounters hot) {
		return new MemoryCounters(properties.memory().maxCounters(), MemoryCounters::systemMicros, System::nanoTime,
				hot::count);
	}

	@Bean
	@ConditionalOnMissingBean
	HotCounters rateLimitHotCounters(RateLimitProperties properties, Fleet fleet) {
		return PolicyMapper.checked("Set 'ratelimit.hot.threshold' to at least 1 check per second, for example 10000.",
				() -> new HotCounters(properties.hot().threshold(), MAX_HOT, fleet::size, System::nanoTime));
	}

	@Bean
	@ConditionalOnMissingBean
	TopRefusals rateLimitTopRefusals() {
		return new TopRefusals(System::nanoTime);
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	HotExchange rateLimitHotExchange(RateLimitProperties properties, HotCounters hot, TopRefusals refusals,
			ObjectProvider<HotStore> store) {
		return PolicyMapper.checked("Set 'ratelimit.hot.top' to 1 to 1000.",
				() -> new HotExchange(hot, refusals, store.getIfAvailable(() -> new LocalHotStore(System::nanoTime)),
						properties.hot().top(), System::nanoTime));
	}

	@Bean
	@ConditionalOnMissingBean
	MarkedSplits rateLimitMarkedSplits(HotCounters hot) {
		return new MarkedSplits(hot);
	}

	@Bean
	@ConditionalOnMissingBean
	HotSplits rateLimitHotSplits(MarkedSplits splits, HotExchange exchange, Counters counters) {
		return new HotSplits(splits, exchange, counters);
	}

	@Bean
	@ConditionalOnMissingBean
	Fleet rateLimitFleet(RateLimitProperties properties) {
		return PolicyMapper.checked("Set 'ratelimit.fleet.expected' to the number of instances, 1 or more.",
				() -> new Fleet(properties.fleet().orOne()));
	}

	@Bean
	@ConditionalOnMissingBean
	ModeSwitch rateLimitSwitch(RateLimitProperties properties, ObjectProvider<SwitchStore> store) {
		return new ModeSwitch(properties.modeSwitch().mode(), store.getIfAvailable(() -> SwitchStore.NONE),
				System::nanoTime);
	}

	@Bean
	@ConditionalOnMissingBean
	Fallback rateLimitFallback(RateLimitProperties properties, Fleet fleet, ModeSwitch modeSwitch) {
		Counters local = new MemoryCounters(properties.memory().maxCounters(), MemoryCounters::systemMicros);
		return new Fallback(local, fleet::size, modeSwitch::mode);
	}

	/**
	 * Shared by the fleet where there is a store for that. Our own proxies stand for many
	 * callers and are never penalised.
	 */
	@Bean
	@ConditionalOnMissingBean
	Penalties rateLimitPenalties(RateLimitProperties properties, ObjectProvider<PenaltyStore> store,
			ObjectProvider<PenaltyListener> listener) {
		PolicyMapper.requireRanges("ratelimit.identity.trusted-proxies", properties.identity().trustedProxies());
		Predicate<String> spared = new TrustedProxies(properties.identity().trustedProxies())::contain;
		PenaltyListener meters = listener.getIfUnique(() -> (policy, kind) -> {
		});
		return (store.getIfAvailable() != null) ? Penalties.shared(meters, spared, System::nanoTime)
				: Penalties.local(meters, spared, System::nanoTime);
	}

	/**
	 * For every limiter over the application's counters: only the policies differ. No
	 * default candidate, since applications may have builders of their own.
	 */
	@Bean(defaultCandidate = false)
	@Scope(BeanDefinition.SCOPE_PROTOTYPE)
	RateLimiterBuilder rateLimitLimiterBuilder(RateLimitProperties properties, CounterKeys keys, Counters counters,
			MarkedSplits splits, Fallback fallback, Penalties penalties, ObjectProvider<DecisionListener> listeners) {
		return RateLimiterBuilder.on(counters)
			.keys(keys)
			.splitting(splits)
			.fallback(fallback)
			.options(PolicyMapper.checked(
					"Set 'ratelimit.redis.timeout' to at least 1ms and 'ratelimit.identity.ipv6-prefix' to 1 to 128.",
					() -> new LimiterOptions(properties.redis().timeout(),
							FailureMode.valueOf(properties.onUnknownPolicy().name()),
							properties.identity().ipv6Prefix())))
			.listeners(listeners.orderedStream().toList())
			.penalties(penalties);
	}

	@Bean
	@ConditionalOnMissingBean(RateLimiter.class)
	PolicyRateLimiter rateLimitLimiter(@Qualifier("rateLimitLimiterBuilder") RateLimiterBuilder builder,
			Policies policies) {
		return builder.policies(policies).build();
	}

	@Bean
	@ConditionalOnMissingBean
	RequestResolver rateLimitRequestResolver(RateLimitProperties properties, Policies policies,
			Map<String, DimensionResolver> resolvers, ObjectProvider<ApiKeyVerifier> verifier,
			ObjectProvider<CallerResolver> callers) {
		PolicyMapper.requireRanges("ratelimit.identity.trusted-proxies", properties.identity().trustedProxies());
		PolicyMapper.requireKeyTiers(properties.identity().apiKeyTiers());
		return new RequestResolver(properties.identity(), properties.region(),
				DimensionMapper.map(properties.dimensions(), resolvers), verifier.getIfAvailable(),
				callers.orderedStream().toList(), policies);
	}

	@Bean
	@ConditionalOnMissingBean
	HttpAnswers rateLimitHttpAnswers(RateLimitProperties properties, ObjectProvider<ProblemCustomizer> customizers) {
		if (!properties.headers().isValid()) {
			throw new InvalidPolicyException("ratelimit.headers.style",
					"'ratelimit.headers.style' is " + properties.headers().style() + ", which is no valid list.",
					"Set 'ratelimit.headers.style' to one or more of both, legacy, draft and separate, or to none alone.");
		}
		return new HttpAnswers(properties.headers(), Clock.systemUTC()::millis,
				(most) -> ThreadLocalRandom.current().nextLong(most + 1), customizers.orderedStream().toList());
	}

	@Bean
	UnknownPolicies rateLimitUnknownPolicies(Policies policies, ObjectProvider<ControlPlane> control) {
		return new UnknownPolicies(policies, control::getIfAvailable);
	}

	@Bean
	StartupLine rateLimitStartupLine(Policies policies, Counters counters, ModeSwitch modeSwitch,
			Environment environment) {
		return new StartupLine(policies, counters, modeSwitch, environment);
	}

	@Bean
	BackendCheck rateLimitBackendCheck(ConfigurableListableBeanFactory beans, Environment environment) {
		return new BackendCheck(beans, environment);
	}

	@Bean
	@ConditionalOnWebApplication
	ForwardedHeadersCheck rateLimitForwardedHeadersCheck(RateLimitProperties properties, Environment environment,
			ListableBeanFactory beans) {
		return new ForwardedHeadersCheck(properties.identity().trustForwarded(), environment, beans);
	}

	/**
	 * For code that uses Reactor.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "reactor.core.publisher.Mono")
	static class ReactiveConfiguration {

		@Bean
		@ConditionalOnMissingBean
		ReactiveRateLimiter rateLimitReactiveLimiter(RateLimiter limiter) {
			return ReactiveRateLimiter.of(limiter);
		}

	}

}
