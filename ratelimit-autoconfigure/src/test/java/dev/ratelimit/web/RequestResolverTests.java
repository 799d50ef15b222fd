package dev.ratelimit.web;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RequestResolverTests {

	private static final Dimension ACCOUNT = new Dimension("account");

	private static final Dimension DEVICE = new Dimension("device");

	private static final Policy ORDERS = Policy.builder("orders")
		.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "100/s")
		.limit("per-account", List.of(ACCOUNT), "10/s")
		.cost("/orders/export/**", 10)
		.build();

	private static final Policy PLAIN = Policy.builder("plain").limit("all", List.of(), "100/s").build();

	private static final TestCall CALL = TestCall.from("198.51.100.1").as(jwt());

	private static final DimensionResolver UNEXPECTED = (call) -> {
		throw new AssertionError("not needed");
	};

	private final AtomicReference<PolicySet> policies = new AtomicReference<>(PolicySet.of(ORDERS, PLAIN));

	@Test
	void allThatIsKnownBecomesDimensions() {
		Request request = resolve(resolver(Map.of("account", (call) -> "4711")), CALL.header("X-API-Key", "sk_1"),
				"orders");
		assertThat(request.policy()).isEqualTo("orders");
		assertThat(request.dimensions()).containsOnly(Map.entry(Dimension.USER, "ann"),
				Map.entry(Dimension.TENANT, "acme"), Map.entry(Dimension.IP, "198.51.100.1"),
				Map.entry(Dimension.ROUTE, "orders-route"), Map.entry(Dimension.REGION, "eu"),
				Map.entry(Dimension.API_KEY, "sk_1"), Map.entry(ACCOUNT, "4711"));
		assertThat(request.unverified()).containsOnly(Dimension.API_KEY);
		assertThat(request.tier()).isEqualTo("pro");
		assertThat(request.cost()).isEqualTo(1);
		assertThat(request.atLeast()).isEqualTo(1);
	}

	@Test
	void requestGoesByTheIdOfItsCall() {
		TestCall call = CALL.header("X-Request-Id", "4711");
		assertThat(resolve(resolver(Map.of()), call, "plain").id()).isEqualTo("4711");
		assertThat(resolver(Map.of()).requestFor(call, "plain", null).id()).isEqualTo("4711");
	}

	@Test
	void blankIsMissing() {
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, " ", Map.of("account", (call) -> "  "),
				null, this.policies::get);
		Request request = resolve(resolver, TestCall.from("198.51.100.1").route("").withoutAddress(), "orders");
		assertThat(request.dimensions()).isEmpty();
		assertThat(request.unverified()).isEmpty();
		assertThat(request.tier()).isNull();
	}

	@Test
	void aVerifiedKeyIsAFact() {
		ApiKeyVerifier verifier = (key) -> CompletableFuture.completedFuture(new VerifiedKey("beta", "free"));
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of(), verifier,
				this.policies::get);
		Request request = resolve(resolver, TestCall.from("198.51.100.1").header("X-API-Key", "sk_1"), "plain");
		assertThat(request.verified(Dimension.API_KEY)).isEqualTo("sk_1");
		assertThat(request.verified(Dimension.TENANT)).isEqualTo("beta");
		assertThat(request.tier()).isEqualTo("free");
	}

	@Test
	void customDimensionsAreResolvedOnlyForPoliciesThatNameThem() {
		Request request = resolve(resolver(Map.of("account", UNEXPECTED, "device", UNEXPECTED)), CALL, "plain");
		assertThat(request.dimensions()).doesNotContainKeys(ACCOUNT, DEVICE);
	}

	@Test
	void anOverrideMayNameACustomDimension() {
		this.policies.set(PolicySet.of(Policy.builder("orders")
			.limit("all", List.of(), "100/s")
			.override(new PolicyOverride(Map.of(DEVICE, "d1"), Map.of("all", List.of(Quota.parse("1/s")))))
			.build()));
		Request request = resolve(resolver(Map.of("device", (call) -> "d1")), CALL, "orders");
		assertThat(request.dimensions()).containsEntry(DEVICE, "d1");
	}

	@Test
	void dimensionsOfARouteBeatThoseOfAllRoutes() {
		RequestResolver resolver = resolver(Map.of("account", UNEXPECTED));
		Map<String, DimensionResolver> extra = Map.of("account", (call) -> "route's", "device", (call) -> "d1");
		for (int i = 0; i < 2; i++) {
			Request request = join(resolver.resolve(CALL, "orders", null, extra));
			assertThat(request.dimensions()).containsEntry(ACCOUNT, "route's").containsEntry(DEVICE, "d1");
		}
	}

	@Test
	void aDimensionWithoutAResolverIsMissing() {
		assertThat(resolve(resolver(Map.of()), CALL, "orders").dimensions()).doesNotContainKey(ACCOUNT);
	}

	@Test
	void resolversWithANameThatNoDimensionHasAreForRoutes() {
		Request request = resolve(resolver(Map.of("accountResolver", UNEXPECTED)), CALL, "orders");
		assertThat(request.dimensions()).doesNotContainKey(ACCOUNT);
	}

	@Test
	void aResolverCannotReplaceAVerifiedFact() {
		assertThatIllegalArgumentException().isThrownBy(() -> resolver(Map.of("tenant", (call) -> "forged")))
			.withMessageContaining("'tenant'")
			.withMessageContaining("another name");
		assertThatIllegalArgumentException().isThrownBy(() -> RequestResolver.requireCustom(List.of("api-key")))
			.withMessageContaining("'api-key'");
		assertThatIllegalArgumentException().isThrownBy(() -> RequestResolver.requireCustom(List.of("No")));
		RequestResolver.requireCustom(List.of("account", "device"));
		assertThat(failure(resolver(Map.of()).resolve(CALL, "orders", null, Map.of("user", (call) -> "forged"))))
			.isInstanceOf(ResolutionException.class);
	}

	@Test
	void anUnknownPolicyCostsOne() {
		Request request = resolve(resolver(Map.of()), CALL.path("/orders/export/x"), "gone");
		assertThat(request.policy()).isEqualTo("gone");
		assertThat(request.cost()).isEqualTo(1);
		assertThat(request.dimensions()).containsEntry(Dimension.TENANT, "acme");
	}

	@Test
	void anExplicitCostBeatsThePatternsWhichBeatOne() {
		RequestResolver resolver = resolver(Map.of());
		TestCall export = CALL.path("//orders/%65xport/all");
		assertThat(join(resolver.resolve(export, "orders", 5L, Map.of())).cost()).isEqualTo(5);
		assertThat(join(resolver.resolve(export, "orders", 0L, Map.of())).cost()).isZero();
		assertThat(join(resolver.resolve(export, "orders", null, Map.of())).cost()).isEqualTo(10);
		assertThat(join(resolver.resolve(CALL, "orders", null, Map.of())).cost()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, Long.MIN_VALUE, 90_000_001, Long.MAX_VALUE })
	void whatIsNoCostIsTheArgumentsFault(long cost) {
		RequestResolver resolver = resolver(Map.of());
		assertThat(failure(resolver.resolve(CALL, "orders", cost, Map.of())))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessage("a cost is 0 to 90000000");
		assertThatIllegalArgumentException().isThrownBy(() -> resolver.requestFor("orders", cost));
		assertThatIllegalArgumentException().isThrownBy(() -> resolver.requestFor(CALL, "orders", cost));
	}

	@Test
	void aResolverThatThrowsIsForTheFailureModeToAnswer() {
		IllegalStateException cause = new IllegalStateException("account 4711");
		RequestResolver resolver = resolver(Map.of("account", (call) -> {
			throw cause;
		}));
		assertThat(failure(resolver.resolve(CALL, "orders", null, Map.of()))).isInstanceOf(ResolutionException.class)
			.hasMessage("cannot resolve dimension 'account' for policy 'orders'")
			.hasCause(cause)
			.satisfies((failure) -> assertThat(failure.getStackTrace()).isEmpty());
	}

	@Test
	void anythingElseThatFailsIsForTheFailureModeToo() {
		Principal broken = () -> {
			throw new IllegalStateException("ann");
		};
		RequestResolver resolver = resolver(Map.of());
		assertThat(failure(resolver.resolve(CALL.as(broken), "orders", null, Map.of())))
			.isInstanceOf(ResolutionException.class)
			.hasMessage("cannot resolve the caller for policy 'orders'");
		this.policies.set(null);
		assertThat(failure(resolver.resolve(CALL, "orders", null, Map.of()))).isInstanceOf(ResolutionException.class)
			.hasMessage("cannot resolve the call for policy 'orders'");
	}

	@Test
	void aPolicyWithABrokenPatternIsForTheFailureModeToo() {
		this.policies.set(PolicySet.of(Policy.builder("orders").limit("all", List.of(), "1/s").cost("/{", 2).build()));
		assertThat(failure(resolver(Map.of()).resolve(CALL, "orders", null, Map.of())))
			.isInstanceOf(ResolutionException.class);
	}

	@Test
	void aFailureAfterAPendingVerificationCompletesTheRequestToo() {
		CompletableFuture<VerifiedKey> pending = new CompletableFuture<>();
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of("account", (call) -> {
			throw new StackOverflowError();
		}), (key) -> pending, this.policies::get);
		CompletionStage<Request> request = resolver.resolve(CALL.header("X-API-Key", "sk_1"), "orders", null, Map.of());
		assertThat(request.toCompletableFuture()).isNotDone();
		pending.complete(null);
		assertThat(failure(request)).isInstanceOf(ResolutionException.class);
	}

	@Test
	void aCallThatCouldNotBeResolvedKeepsWhatCannotFail() {
		RequestResolver resolver = resolver(Map.of());
		assertThat(resolver.requestFor("orders", null)).isEqualTo(Request.of("orders"));
		assertThat(resolver.requestFor("orders", 5L)).isEqualTo(Request.of("orders").withCost(5));
		Request request = resolver.requestFor(CALL, "orders", 3L);
		assertThat(request.cost()).isEqualTo(3);
		assertThat(request.tier()).isNull();
		assertThat(request.dimensions()).containsOnly(Map.entry(Dimension.IP, "198.51.100.1"),
				Map.entry(Dimension.ROUTE, "orders-route"), Map.entry(Dimension.REGION, "eu"));
	}

	@Test
	void newPoliciesAreInForceAtOnce() {
		RequestResolver resolver = resolver(Map.of("account", (call) -> "4711"));
		TestCall export = CALL.path("/orders/export");
		assertThat(resolve(resolver, export, "orders").cost()).isEqualTo(10);
		this.policies.set(PolicySet
			.of(Policy.builder("orders").limit("all", List.of(), "100/s").cost("/orders/export", 20).build()));
		Request request = resolve(resolver, export, "orders");
		assertThat(request.cost()).isEqualTo(20);
		assertThat(request.dimensions()).doesNotContainKey(ACCOUNT);
	}

	@Test
	void recordMayNameACustomDimension() {
		RequestResolver resolver = resolver(Map.of("device", (call) -> "d1"));
		assertThat(resolve(resolver, CALL, "plain").dimensions()).doesNotContainKey(DEVICE);
		this.policies.get().records().addDenied(Map.of(DEVICE, "d1"));
		assertThat(resolve(resolver, CALL, "plain").dimensions()).containsEntry(DEVICE, "d1");
	}

	@Test
	void costAndDimensionsAreThoseOfTheVersionThatIsForTheCaller() {
		RequestResolver resolver = resolver(Map.of("account", (call) -> "4711"));
		TestCall export = CALL.path("/orders/export");
		PolicyBuilder next = Policy.builder("orders")
			.version(1)
			.limit("all", List.of(), "100/s")
			.cost("/orders/export", 20);
		this.policies.set(PolicySet.of(ORDERS).mutate().put(next.shadow(true).build(), ORDERS).build());
		Request outside = resolve(resolver, export, "orders");
		assertThat(outside.cost()).isEqualTo(10);
		assertThat(outside.dimensions()).containsKey(ACCOUNT);
		this.policies.set(PolicySet.of(ORDERS).mutate().put(next.shadow(false).build(), ORDERS).build());
		assertThat(resolve(resolver, export, "orders").cost()).isEqualTo(20);
	}

	@Test
	void plansOfPoliciesThatAreGoneAreDropped() {
		ResolutionPlans plans = new ResolutionPlans();
		for (int i = 0; i < 1_000; i++) {
			PolicySet set = PolicySet.of(PLAIN, Policy.builder("policy-" + i).limit("all", List.of(), "1/s").build());
			assertThat(plans.find(set, "policy-" + i)).isNotNull();
			assertThat(plans.find(set, "plain")).isSameAs(plans.find(set, "plain"));
			assertThat(plans.size()).isLessThanOrEqualTo(2);
		}
		assertThat(plans.find(PolicySet.of(PLAIN), "policy-999")).isNull();
		assertThat(plans.size()).isZero();
	}

	private RequestResolver resolver(Map<String, DimensionResolver> dimensions) {
		return new RequestResolver(IdentityOptions.DEFAULTS, "eu", dimensions, null, this.policies::get);
	}

	private static Request resolve(RequestResolver resolver, WebCall call, String policy) {
		return join(resolver.resolve(call, policy, null, Map.of()));
	}

	private static Request join(CompletionStage<Request> request) {
		return request.toCompletableFuture().join();
	}

	private static Throwable failure(CompletionStage<Request> request) {
		AtomicReference<Throwable> failure = new AtomicReference<>();
		request.whenComplete((resolved, ex) -> failure.set(ex));
		assertThatExceptionOfType(Throwable.class).isThrownBy(() -> join(request));
		return failure.get();
	}

	private static JwtAuthenticationToken jwt() {
		return new JwtAuthenticationToken(Jwt.withTokenValue("token")
			.header("alg", "none")
			.claim("tenant_id", "acme")
			.claim("sub", "ann")
			.claim("tier", "pro")
			.build(), List.of());
	}

}
