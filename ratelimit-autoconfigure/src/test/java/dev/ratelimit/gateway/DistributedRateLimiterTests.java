package dev.ratelimit.gateway;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter.Response;
import org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.validation.Validator;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;

import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DistributedRateLimiterTests {

	private static final String ROUTE = "orders";

	private final AtomicLong micros = new AtomicLong(4_000_000_000L);

	private final AtomicReference<PolicySet> policies = new AtomicReference<>(PolicySet.of());

	private final AtomicReference<@Nullable FailureMode> forced = new AtomicReference<>();

	private HeaderOptions headers = HeaderOptions.DEFAULTS;

	private @Nullable DistributedRateLimiter limiter;

	@Test
	void headersAreTheGateways() {
		load(10, 20, 3);
		assertThat(ask("ann").getHeaders()).containsOnly(Map.entry("X-RateLimit-Remaining", "17"),
				Map.entry("X-RateLimit-Replenish-Rate", "10"), Map.entry("X-RateLimit-Burst-Capacity", "20"),
				Map.entry("X-RateLimit-Requested-Tokens", "3"));
	}

	@Test
	void refusedRequestIsToldWhenToRetry() {
		load(1, 1, 1);
		assertThat(ask("ann").isAllowed()).isTrue();
		Response refused = ask("ann");
		assertThat(refused.isAllowed()).isFalse();
		assertThat(refused.getHeaders()).containsEntry("X-RateLimit-Remaining", "0").containsKey("Retry-After");
		assertThat(ask("bob").isAllowed()).isTrue();
	}

	@Test
	void blankKeyIsCountedLikeAnyOther() {
		load(1, 1, 1);
		assertThat(ask(" ", from("10.1.2.3")).isAllowed()).isTrue();
		assertThat(ask(" ", from("10.1.2.4")).isAllowed()).isFalse();
	}

	@Test
	void withoutAnExchangeEntriesOfTheDenyListMatchKeyAndRoute() {
		load(10, 20, 1);
		deny(Map.of(new Dimension("key"), "ann"));
		Response denied = ask("ann");
		assertThat(denied.isAllowed()).isFalse();
		assertThat(denied.getHeaders()).isEmpty();
		assertThat(ask("bob").isAllowed()).isTrue();
		deny(Map.of(Dimension.ROUTE, ROUTE));
		assertThat(ask("bob").isAllowed()).isFalse();
	}

	@Test
	void withAnExchangeTheyMatchTheCaller() {
		load(10, 20, 1);
		deny(Map.of(Dimension.IP, "10.1.0.0/16"));
		assertThat(ask("ann", from("10.1.2.3")).isAllowed()).isFalse();
		assertThat(ask("ann", from("10.2.2.3")).isAllowed()).isTrue();
		assertThat(ask("ann").isAllowed()).isTrue();
	}

	@Test
	void exchangeThatSpringsOwnFilterHasLeftIsFoundToo() {
		load(10, 20, 1);
		deny(Map.of(Dimension.IP, "10.1.0.0/16"));
		Response response = this.limiter.isAllowed(ROUTE, "ann")
			.contextWrite((context) -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE,
					from("10.1.2.3")))
			.block();
		assertThat(response.isAllowed()).isFalse();
	}

	@Test
	void callerOnTheAllowListIsNotLimitedAndHearsOfNoLimit() {
		load(1, 1, 1);
		allow(Map.of(Dimension.IP, "10.1.2.3"));
		for (int i = 0; i < 3; i++) {
			Response allowed = ask("ann", from("10.1.2.3"));
			assertThat(allowed.isAllowed()).isTrue();
			assertThat(allowed.getHeaders()).isEmpty();
		}
	}

	@Test
	void keyNeverMatchesTheAllowListBecauseACallerMayChooseIt() {
		load(1, 1, 1);
		allow(Map.of(new Dimension("key"), "ann"));
		assertThat(ask("ann").isAllowed()).isTrue();
		assertThat(ask("ann").isAllowed()).isFalse();
	}

	@Test
	void entriesThatAreWrittenAtRunTimeHoldToo() {
		load(10, 20, 1);
		this.policies.get().records().addDenied(Map.of(Dimension.IP, "10.1.2.3"));
		assertThat(ask("ann", from("10.1.2.3")).isAllowed()).isFalse();
		assertThat(ask("ann", from("10.1.2.4")).isAllowed()).isTrue();
	}

	@Test
	void listsThatChangeDoNotForgetWhatWasCounted() {
		load(1, 2, 1);
		ask("ann");
		deny(Map.of(new Dimension("key"), "bob"));
		assertThat(ask("ann").getHeaders()).containsEntry("X-RateLimit-Remaining", "0");
	}

	@Test
	void switchLetsPassAndMarksWhatIsNotKnownAndTheDenyListHolds() {
		load(1, 1, 1);
		deny(Map.of(new Dimension("key"), "bob"));
		this.forced.set(FailureMode.ALLOW);
		for (int i = 0; i < 3; i++) {
			assertThat(ask("ann").isAllowed()).isTrue();
		}
		assertThat(ask("ann").getHeaders()).containsEntry("X-RateLimit-Remaining", "-1")
			.containsEntry("X-RateLimit-Burst-Capacity", "1");
		assertThat(ask("bob").isAllowed()).isFalse();
		this.forced.set(FailureMode.DENY);
		assertThat(ask("ann").isAllowed()).isFalse();
		assertThat(ask("ann").getHeaders()).containsKey("Retry-After");
	}

	@Test
	void degradedOmitLeavesTheNumbersOut() {
		this.headers = new HeaderOptions(List.of(HeaderOptions.Style.BOTH), HeaderOptions.Degraded.OMIT);
		load(1, 1, 1);
		this.forced.set(FailureMode.ALLOW);
		assertThat(ask("ann").getHeaders()).isEmpty();
	}

	@Test
	void styleNoneLeavesAllButRetryAfterOut() {
		this.headers = new HeaderOptions(List.of(HeaderOptions.Style.NONE), HeaderOptions.Degraded.MARKER);
		load(1, 1, 1);
		assertThat(ask("ann").getHeaders()).isEmpty();
		assertThat(ask("ann").getHeaders()).containsOnlyKeys("Retry-After");
		this.forced.set(FailureMode.ALLOW);
		assertThat(ask("ann").getHeaders()).isEmpty();
	}

	@Test
	void burstOfZeroRefusesEverythingAsInTheGateway() {
		load(1, 0, 1);
		Response refused = ask("ann");
		assertThat(refused.isAllowed()).isFalse();
		assertThat(refused.getHeaders()).containsEntry("X-RateLimit-Remaining", "0");
	}

	@ParameterizedTest
	@CsvSource({ "0, 1, 1, replenishRate cannot be 0", "-1, 1, 1, replenishRate cannot be -1",
			"90000001, 1, 1, replenishRate cannot be 90000001", "1, -1, 1, burstCapacity cannot be -1",
			"1, 90000001, 1, burstCapacity cannot be 90000001", "1, 1, 0, requestedTokens cannot be 0",
			"1, 1, -5, requestedTokens cannot be -5", "1, 9, 10, requestedTokens cannot be 10" })
	void invalidArgumentFailsWhenTheRouteLoads(int rate, long burst, int tokens, String problem) {
		assertThatExceptionOfType(InvalidPolicyException.class).isThrownBy(() -> load(rate, burst, tokens))
			.withMessageContaining("route 'orders'")
			.withMessageContaining("redis-rate-limiter." + problem)
			.withMessageContaining("Set 'redis-rate-limiter.");
	}

	@Test
	void routeThatNamesThisLimiterWithoutALimitFails() {
		make();
		FilterArgsEvent event = new FilterArgsEvent(this, ROUTE, Map.of("rate-limiter", this.limiter));
		assertThatExceptionOfType(InvalidPolicyException.class).isThrownBy(() -> this.limiter.onApplicationEvent(event))
			.withMessageContaining("route 'orders'")
			.withMessageContaining("redis-rate-limiter.replenishRate");
	}

	@Test
	void whatAnotherLimiterIsToldIsNotCheckedHere() {
		make();
		Map<String, Object> wrong = Map.of("redis-rate-limiter.replenishRate", "1", "redis-rate-limiter.burstCapacity",
				"1", "redis-rate-limiter.requestedTokens", "10");
		Map<String, Object> others = new HashMap<>(wrong);
		others.put("rate-limiter", new RedisRateLimiter(1, 1));
		assertThatCode(() -> {
			this.limiter.onApplicationEvent(new FilterArgsEvent(this, ROUTE, wrong));
			this.limiter.onApplicationEvent(new FilterArgsEvent(this, ROUTE, others));
		}).doesNotThrowAnyException();
		assertThat(this.limiter.getConfig()).isEmpty();
	}

	@Test
	void routeOfWhichNothingIsKnownIsNoErrorPerRequest() {
		make();
		deny(Map.of(new Dimension("key"), "bob"));
		assertThat(ask("ann").isAllowed()).isTrue();
		assertThat(ask("ann").getHeaders()).isEmpty();
		assertThat(ask("bob").isAllowed()).isFalse();
	}

	@Test
	void routeWithALargeBurstDoesNotChangeHowLongAnotherRouteIsFull() {
		make();
		route(ROUTE, 100, 100, 100);
		route("reports", 1, 86_400, 1);
		assertThat(ask("ann").isAllowed()).isTrue();
		this.micros.addAndGet(-3_600_000_000L);
		assertThat(ask("ann").getHeaders()).containsEntry("Retry-After", "1");
	}

	@Test
	void largestCostIsKnownToWhoeverSplitsCounters() {
		load(10, 20, 7);
		assertThat(this.limiter.largestCost()).isEqualTo(7);
	}

	private void deny(Map<Dimension, String> entry) {
		lists(AccessList.EMPTY, new AccessList(List.of(entry)));
	}

	private void allow(Map<Dimension, String> entry) {
		lists(new AccessList(List.of(entry)), AccessList.EMPTY);
	}

	private void lists(AccessList allow, AccessList deny) {
		this.policies.updateAndGet((policies) -> policies.mutate().lists(allow, deny).build());
	}

	private Response ask(String key) {
		return this.limiter.isAllowed(ROUTE, key).block();
	}

	private Response ask(String key, ServerWebExchange exchange) {
		return this.limiter.isAllowed(ROUTE, key)
			.contextWrite((context) -> context.put(ServerWebExchange.class, exchange))
			.block();
	}

	private static ServerWebExchange from(String ip) {
		return MockServerWebExchange
			.from(MockServerHttpRequest.get("/orders").remoteAddress(new InetSocketAddress(ip, 4711)));
	}

	/** As routes that are written in Java do it. */
	private void load(int rate, long burst, int tokens) {
		make();
		route(ROUTE, rate, burst, tokens);
	}

	private void route(String id, int rate, long burst, int tokens) {
		Consumer<DistributedRateLimiter.Config> route = (
				config) -> config.setReplenishRate(rate).setBurstCapacity(burst).setRequestedTokens(tokens);
		DistributedRateLimiter.Config config = this.limiter.newConfig();
		route.accept(config);
		this.limiter.getConfig().put(id, config);
	}

	private void make() {
		Supplier<PolicySet> inForce = this.policies::get;
		MemoryCounters counters = new MemoryCounters(1_000, this.micros::get);
		Fallback fallback = new Fallback(new MemoryCounters(1_000, () -> 0), () -> 1, this.forced::get);
		HttpAnswers answers = new HttpAnswers(this.headers, () -> 0, (most) -> 0, List.of());
		Supplier<ConversionService> conversion = DefaultConversionService::new;
		Supplier<Validator> validator = () -> null;
		this.limiter = new DistributedRateLimiter(
				new ConfigurationService(new DefaultListableBeanFactory(), conversion, validator),
				new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), null, List.of(), inForce), inForce,
				(policies) -> RateLimiterBuilder.on(counters).policies(policies).fallback(fallback).build(), answers,
				this.headers);
	}

}
