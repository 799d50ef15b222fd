package dev.ratelimit.autoconfigure;

import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.SwitchStore;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Epochs;
import dev.ratelimit.counter.HotStore;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotSplits;
import dev.ratelimit.hot.LocalHotStore;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.limiter.Splitting;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.web.ApiKeyVerifier;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.ProblemCustomizer;
import dev.ratelimit.web.RequestResolver;

/**
 * The limiter itself: policies, counters in memory unless another auto-configuration
 * brought some, and what the edges need.
 */
@AutoConfiguration(after = RateLimitRedisAutoConfiguration.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@EnableConfigurationProperties(RateLimitProperties.class)
@Import({ HashingConfiguration.class, MissingLettuce.class })
public class RateLimitAutoConfiguration {

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
		return new PolicyMapper(dimensions(resolvers).keySet(), properties.identity().hash().longestWindow());
	}

	@Bean
	@ConditionalOnMissingBean
	Policies rateLimitPolicies(RateLimitProperties properties, PolicyMapper mapper,
			Map<String, DimensionResolver> resolvers) {
		Policies policies = new Policies(mapper.map(properties));
		PolicyWarnings.log(properties, policies.get(), dimensions(resolvers));
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
		return PolicyMapper.checked("Set 'ratelimit.key-prefix' to something like rl.",
				() -> new CounterKeys(properties.keyPrefix(), properties.identity().hash().dimensions(), epochs));
	}

	@Bean
	@ConditionalOnMissingBean(Counters.class)
	MemoryCounters rateLimitMemoryCounters(RateLimitProperties properties, HotCounters hot) {
		return new MemoryCounters(properties.memory().maxCounters(), MemoryCounters::systemMicros, System::nanoTime,
				hot::test);
	}

	@Bean
	@ConditionalOnMissingBean
	HotCounters rateLimitHotCounters(RateLimitProperties properties, Fleet fleet) {
		return PolicyMapper.checked("Set 'ratelimit.hot.threshold' to something like 10000.",
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
		return PolicyMapper.checked("Set 'ratelimit.hot.top' to something like 100.",
				() -> new HotExchange(hot, refusals, store.getIfAvailable(() -> new LocalHotStore(System::nanoTime)),
						properties.hot().top(), System::nanoTime));
	}

	@Bean
	@ConditionalOnMissingBean
	HotSplits rateLimitHotSplits(HotCounters hot, HotExchange exchange, Counters counters) {
		return new HotSplits(hot, exchange, counters);
	}

	@Bean
	@ConditionalOnMissingBean
	Fleet rateLimitFleet(RateLimitProperties properties) {
		return PolicyMapper.checked("Set 'ratelimit.fleet.expected' to the number of instances, at least 1.",
				() -> new Fleet(properties.fleet().orOne()));
	}

	@Bean
	@ConditionalOnMissingBean
	RedSwitch rateLimitSwitch(RateLimitProperties properties, ObjectProvider<SwitchStore> store) {
		return new RedSwitch(properties.redSwitch().mode(), store.getIfAvailable(() -> SwitchStore.NONE),
				System::nanoTime);
	}

	@Bean
	@ConditionalOnMissingBean
	Fallback rateLimitFallback(RateLimitProperties properties, Fleet fleet, RedSwitch redSwitch) {
		Counters local = new MemoryCounters(properties.memory().maxCounters(), MemoryCounters::systemMicros);
		return new Fallback(local, fleet::size, redSwitch::mode);
	}

	@Bean
	@ConditionalOnMissingBean(RateLimiter.class)
	PolicyRateLimiter rateLimitLimiter(RateLimitProperties properties, Policies policies, CounterKeys keys,
			Counters counters, HotCounters hot, TopRefusals refusals, Fallback fallback,
			ObjectProvider<DecisionListener> listeners) {
		return new PolicyRateLimiter(policies, keys, counters, fallback, options(properties),
				listeners.orderedStream().toList(), splitting(counters, hot), refusals);
	}

	/** In memory there is no node to relieve. */
	static Splitting splitting(Counters counters, HotCounters hot) {
		return (counters.source() == Decision.Source.MEMORY) ? Splitting.NONE : hot::parts;
	}

	@Bean
	@ConditionalOnMissingBean
	RequestResolver rateLimitRequestResolver(RateLimitProperties properties, Policies policies,
			Map<String, DimensionResolver> resolvers, ObjectProvider<ApiKeyVerifier> verifier) {
		RateLimitProperties.Identity identity = properties.identity();
		Map<String, ApiKeyVerifier.VerifiedKey> apiKeys = new HashMap<>();
		identity.apiKeys()
			.forEach((digest, key) -> apiKeys.put(digest, new ApiKeyVerifier.VerifiedKey(key.tenant(), key.tier())));
		IdentityOptions options = new IdentityOptions(identity.tenantClaim(), identity.userClaim(),
				identity.tierClaim(), identity.apiKeyHeader(), apiKeys, identity.trustedHops(),
				PolicyMapper.ranges("ratelimit.identity.trusted-proxies", identity.trustedProxies()));
		return new RequestResolver(options, properties.region(), dimensions(resolvers), verifier.getIfAvailable(),
				policies);
	}

	@Bean
	@ConditionalOnMissingBean
	HttpAnswers rateLimitHttpAnswers(RateLimitProperties properties, ObjectProvider<ProblemCustomizer> customizers) {
		return new HttpAnswers(headers(properties), Clock.systemUTC()::millis,
				(most) -> ThreadLocalRandom.current().nextLong(most + 1), customizers.orderedStream().toList());
	}

	static HeaderOptions headers(RateLimitProperties properties) {
		return new HeaderOptions(properties.headers().style(), properties.headers().degraded());
	}

	@Bean
	StartupLine rateLimitStartupLine(Policies policies, Counters counters, RedSwitch redSwitch,
			Environment environment) {
		return new StartupLine(policies, counters, redSwitch, environment);
	}

	@Bean
	@ConditionalOnWebApplication
	ForwardedHeadersCheck rateLimitForwardedHeadersCheck(RateLimitProperties properties, Environment environment,
			ListableBeanFactory beans) {
		return new ForwardedHeadersCheck(properties.identity().trustForwarded(), environment, beans);
	}

	static LimiterOptions options(RateLimitProperties properties) {
		return PolicyMapper.checked("Correct 'ratelimit.redis.timeout' or 'ratelimit.identity.ipv6-prefix'.",
				() -> new LimiterOptions(properties.redis().timeout(),
						FailureMode.valueOf(properties.onUnknownPolicy().name()), properties.identity().ipv6Prefix()));
	}

	/**
	 * A resolver named {@code account} or {@code accountResolver} resolves the dimension
	 * {@code account}.
	 */
	private static Map<String, DimensionResolver> dimensions(Map<String, DimensionResolver> resolvers) {
		Map<String, DimensionResolver> dimensions = new HashMap<>();
		resolvers.forEach((name, resolver) -> dimensions
			.put(name.endsWith("Resolver") ? name.substring(0, name.length() - "Resolver".length()) : name, resolver));
		return dimensions;
	}

	/**
	 * For code that speaks Reactor.
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
