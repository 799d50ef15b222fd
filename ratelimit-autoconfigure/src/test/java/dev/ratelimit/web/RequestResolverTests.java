package dev.ratelimit.web;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Request.Unresolved;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@ExtendWith(OutputCaptureExtension.class)
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
		assertThat(request.unverified()).containsOnly(Dimension.API_KEY, ACCOUNT);
		assertThat(request.unresolved()).isSameAs(Unresolved.NOTHING);
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
				null, List.of(), this.policies::get);
		Request request = resolve(resolver, TestCall.from("198.51.100.1").route("").withoutAddress(), "orders");
		assertThat(request.dimensions()).isEmpty();
		assertThat(request.tier()).isNull();
	}

	@Test
	void aVerifiedKeyIsAFact() {
		ApiKeyVerifier verifier = (key) -> CompletableFuture.completedFuture(new VerifiedKey("beta", "free"));
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of(), verifier, List.of(),
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
		assertThat(request.unresolved()).isEqualTo(Request.Unresolved.NOTHING);
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
		assertThat(request.unresolved()).isEqualTo(Request.Unresolved.NOTHING);
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
	@ValueSource(longs = { -1, Long.MIN_VALUE + 1, 90_000_001, Long.MAX_VALUE })
	void whatIsNoCostIsTheArgumentsFault(long cost) {
		RequestResolver resolver = resolver(Map.of());
		assertThat(failure(resolver.resolve(CALL, "orders", cost, Map.of())))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessage("a cost is 0 to 90000000");
		assertThatIllegalArgumentException().isThrownBy(() -> resolver.requestFor(CALL, "orders", cost));
	}

	@Test
	void aResolverThatThrowsLeavesItsDimensionOutAndTheRequestSaysSo(CapturedOutput output) {
		RequestResolver resolver = resolver(Map.of("account", (call) -> {
			throw new IllegalStateException("account 4711");
		}));
		for (int i = 0; i < 2; i++) {
			Request request = resolve(resolver, CALL, "orders");
			assertThat(request.dimensions()).doesNotContainKey(ACCOUNT).containsEntry(Dimension.USER, "ann");
			assertThat(request.unresolved()).isEqualTo(new Unresolved(Set.of(ACCOUNT), false, false));
		}
		assertThat(output.getOut().split("resolver of dimension 'account' failed", -1)).hasSize(2);
		assertThat(output).doesNotContain("4711");
	}

	@Test
	void aResolverThatThrowsWhateverThereIsHoldsUpNoRequest() {
		Request request = join(resolver(Map.of()).resolve(CALL, "plain", null, Map.of("device", UNEXPECTED)));
		assertThat(request.unresolved().dimensions()).containsOnly(DEVICE);
	}

	@Test
	void ofTwoDifferentKeysTheOneThatIsDeniedCounts() {
		AccessList denied = new AccessList(List.of(Map.of(Dimension.API_KEY, "sk_revoked_*")));
		this.policies.set(new PolicySet(List.of(ORDERS, PLAIN), AccessList.EMPTY, denied));
		TestCall both = CALL.header("X-API-Key", "sk_other", "sk_revoked_1");
		Request request = resolve(resolver(Map.of()), both, "plain");
		assertThat(this.policies.get().denies(request)).isTrue();
		assertThat(this.policies.get().denies(resolver(Map.of()).requestFor(both, "plain", null))).isTrue();
		TestCall harmless = CALL.header("X-API-Key", "sk_other", "sk_another");
		assertThat(resolve(resolver(Map.of()), harmless, "plain").dimensions()).doesNotContainKey(Dimension.API_KEY);
	}

	@Test
	void aResolverOfARouteThatThrowsIsTheSame() {
		DimensionResolver broken = (call) -> {
			throw new StackOverflowError();
		};
		Request request = join(resolver(Map.of()).resolve(CALL, "plain", null, Map.of("device", broken)));
		assertThat(request.unresolved().dimensions()).containsOnly(DEVICE);
	}

	@Test
	void onlyAResolverThatSaysSoGivesVerifiedFacts() {
		DimensionResolver verified = new DimensionResolver() {
			@Override
			public String resolve(WebCall call) {
				return "4711";
			}

			@Override
			public boolean verified() {
				return true;
			}
		};
		assertThat(resolve(resolver(Map.of("account", (call) -> "4711")), CALL, "orders").verified(ACCOUNT)).isNull();
		assertThat(resolve(resolver(Map.of("account", verified)), CALL, "orders").verified(ACCOUNT)).isEqualTo("4711");
		Request request = join(
				resolver(Map.of()).resolve(CALL, "plain", null, Map.of("key", (call) -> "k", "device", verified)));
		assertThat(request.unverified()).containsOnly(new Dimension("key"));
		assertThat(request.dimensions()).containsEntry(new Dimension("key"), "k");
	}

	@Test
	void anAddressThatProxiesDoNotTellIsUnverified() {
		IdentityOptions options = TestCall.options("tenant_id", "sub", "tier", "X-API-Key", Map.of(), 1, List.of());
		RequestResolver resolver = new RequestResolver(options, "eu", Map.of("account", (call) -> "4711"), null,
				List.of(), this.policies::get);
		AccessList list = new AccessList(List.of(Map.of(Dimension.IP, "198.51.100.0/24")));
		PolicySet internal = new PolicySet(List.of(PLAIN), list, list);
		TestCall call = TestCall.from("198.51.100.1");
		for (Request request : List.of(resolve(resolver, call, "plain"), resolver.requestFor(call, "plain", null))) {
			assertThat(request.dimensions()).containsEntry(Dimension.IP, "198.51.100.1");
			assertThat(request.verified(Dimension.IP)).isNull();
			assertThat(internal.allows(request)).isFalse();
			assertThat(internal.denies(request)).isTrue();
		}
		assertThat(resolve(resolver, call.header("X-API-Key", "sk_1"), "plain").unverified()).containsOnly(Dimension.IP,
				Dimension.API_KEY);
		assertThat(resolve(resolver, call, "orders").unverified()).containsOnly(Dimension.IP, ACCOUNT);
		TestCall told = call.header("X-Forwarded-For", "203.0.113.9");
		assertThat(resolve(resolver, told, "plain").verified(Dimension.IP)).isEqualTo("203.0.113.9");
	}

	@Test
	void requestIdsCountFromTrustedProxiesOnlyWhereTheseAreNamed() {
		IdentityOptions options = TestCall.options("tenant_id", "sub", "tier", "X-API-Key", Map.of(), 0,
				List.of("10.0.0.0/8"));
		RequestResolver resolver = new RequestResolver(options, "eu", Map.of(), null, List.of(), this.policies::get);
		TestCall proxied = TestCall.from("10.0.0.1").header("X-Request-Id", "4711");
		assertThat(resolve(resolver, proxied, "plain").id()).isEqualTo("4711");
		TestCall direct = TestCall.from("198.51.100.1").header("X-Request-Id", "4711");
		assertThat(resolve(resolver, direct, "plain").id()).isNull();
		assertThat(resolver.requestFor(direct, "plain", null).id()).isNull();
	}

	@Test
	void idOfARetryIsReadFromAConfiguredProxyForAPolicyWithIdempotency() {
		this.policies.set(PolicySet.of(Policy.builder("payments")
			.limit("per-user", List.of(Dimension.USER), "100/s")
			.idempotency(new Idempotency("Idempotency-Key", Duration.ofMinutes(10), 3))
			.build(), PLAIN));
		IdentityOptions options = TestCall.options("tenant_id", "sub", "tier", "X-API-Key", Map.of(), 0,
				List.of("10.0.0.0/8"));
		RequestResolver resolver = new RequestResolver(options, "eu", Map.of(), null, List.of(), this.policies::get);
		TestCall proxied = TestCall.from("10.0.0.1");
		TestCall named = proxied.header("Idempotency-Key", "4711");
		assertThat(resolve(resolver, named, "payments").idempotencyKey()).isEqualTo("4711");
		assertThat(resolve(resolver, named, "plain").idempotencyKey()).isNull();
		assertThat(resolve(resolver, proxied.header("X-Request-Id", "4711"), "payments").idempotencyKey()).isNull();
		assertThat(resolve(resolver, proxied.header("Idempotency-Key", "a b"), "payments").idempotencyKey()).isNull();
		assertThat(resolve(resolver, proxied.header("Idempotency-Key", "a".repeat(129)), "payments").idempotencyKey())
			.isNull();
		TestCall direct = TestCall.from("198.51.100.1").header("Idempotency-Key", "4711");
		assertThat(resolve(resolver, direct, "payments").idempotencyKey()).isNull();
		RequestResolver open = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of(), null, List.of(),
				this.policies::get);
		assertThat(resolve(open, named, "payments").idempotencyKey()).isNull();
	}

	@Test
	void aKeyThatCannotBeVerifiedIsSaid() {
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of(), (key) -> {
			throw new IllegalStateException();
		}, List.of(), this.policies::get);
		Request request = resolve(resolver, TestCall.from("198.51.100.1").header("X-API-Key", "sk_1"), "plain");
		assertThat(request.unresolved()).isEqualTo(new Unresolved(Set.of(), false, true));
		assertThat(request.unverified()).containsOnly(Dimension.API_KEY);
	}

	@Test
	void aPrincipalThatFailsLeavesUserAndTenantOut() {
		Principal broken = () -> {
			throw new IllegalStateException("ann");
		};
		Request request = resolve(resolver(Map.of()), CALL.as(broken), "plain");
		assertThat(request.unresolved().dimensions()).containsOnly(Dimension.USER, Dimension.TENANT);
		assertThat(request.dimensions()).containsKey(Dimension.IP).doesNotContainKey(Dimension.USER);
	}

	@Test
	void aCostThatIsNotKnownIsSaid() {
		RequestResolver resolver = resolver(Map.of());
		Request request = join(resolver.resolve(CALL, "plain", RequestResolver.UNKNOWN_COST, Map.of()));
		assertThat(request.unresolved().cost()).isTrue();
		assertThat(resolver.requestFor(CALL, "plain", RequestResolver.UNKNOWN_COST).unresolved().cost()).isTrue();
	}

	@Test
	void aPathThatFailsHasACostThatIsNotKnown() {
		TestCall call = CALL.path(null);
		assertThat(resolve(resolver(Map.of()), call, "orders").unresolved().cost()).isTrue();
		assertThat(resolve(resolver(Map.of()), call, "plain").unresolved().cost()).isFalse();
	}

	@Test
	void anythingElseThatFailsIsForTheFailureMode() {
		this.policies.set(null);
		assertThat(failure(resolver(Map.of()).resolve(CALL, "orders", null, Map.of())))
			.isInstanceOf(ResolutionException.class)
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
		RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "eu", Map.of(), (key) -> pending,
				List.of(), this.policies::get);
		CompletionStage<Request> request = resolver.resolve(CALL.header("X-API-Key", "sk_1"), "orders", null, Map.of());
		assertThat(request.toCompletableFuture()).isNotDone();
		this.policies.set(null);
		pending.complete(null);
		assertThat(failure(request)).isInstanceOf(ResolutionException.class);
	}

	@Test
	void aCallThatCouldNotBeResolvedKeepsWhatCannotFail() {
		RequestResolver resolver = resolver(Map.of());
		Request request = resolver.requestFor(CALL.header("X-API-Key", "sk_1"), "orders", 3L);
		assertThat(request.cost()).isEqualTo(3);
		assertThat(request.tier()).isEqualTo("pro");
		assertThat(request.dimensions()).containsOnly(Map.entry(Dimension.IP, "198.51.100.1"),
				Map.entry(Dimension.ROUTE, "orders-route"), Map.entry(Dimension.REGION, "eu"),
				Map.entry(Dimension.USER, "ann"), Map.entry(Dimension.TENANT, "acme"),
				Map.entry(Dimension.API_KEY, "sk_1"));
		assertThat(request.unverified()).containsOnly(Dimension.API_KEY);
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
		return new RequestResolver(IdentityOptions.DEFAULTS, "eu", dimensions, null, List.of(), this.policies::get);
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
