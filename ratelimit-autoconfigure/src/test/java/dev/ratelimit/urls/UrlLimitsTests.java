package dev.ratelimit.urls;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limits by URL on real servers of all stacks. Users differ from test to test, so that
 * the tests share an application and no counter; a policy by IP is used by one test only.
 */
class UrlLimitsTests {

	private static final String[] LIMITS = { policy("api", "user", "3/h"), policy("writes", "user", "3/h"),
			policy("wide", "user", "100/h"), policy("narrow", "user", "1/h"), policy("heavy", "user", "10/h"),
			policy("costly", "user", "10/h"), policy("login", "ip", "3/h"), policy("early", "ip", "5/h"),
			policy("early-two", "ip", "1/h"), policy("denied", "ip", "100/h"), policy("routes", "route", "3/h"),
			dimension("account", "claim=org.id"), dimension("shop", "header=X-Shop"), dimension("page", "query=page"),
			dimension("session", "cookie=sid"), dimension("host", "host=true"), dimension("verb", "method=true"),
			policy("keys", "api-key", "5/h") + "\nratelimit.policies.keys.tiers.pro.limits.per-api-key=50/h"
					+ "\nratelimit.policies.keys.on-missing-identity=skip\nratelimit.urls.keys.path=/public/key/**"
					+ "\nratelimit.urls.keys.policy=keys\nratelimit.identity.api-key-query=api_key"
					+ "\nratelimit.identity.api-key-tiers[sk_prod_*]=pro",
			"ratelimit.urls.by-host.before-authentication=true\nratelimit.urls.by-verb.before-authentication=true" };

	private static final String[] ENTRIES = { "ratelimit.urls.api.path=/api/**", "ratelimit.urls.api.policy=api",
			"ratelimit.deny[0].user=denied", "ratelimit.urls.denied-early.path=/denied/**",
			"ratelimit.urls.denied-early.policy=denied", "ratelimit.urls.denied-early.before-authentication=true",
			"ratelimit.urls.denied.path=/denied/**", "ratelimit.urls.denied.policy=api",
			"ratelimit.urls.search.path=/search/{query}", "ratelimit.urls.search.policy=api",
			"ratelimit.urls.attempt.path=/login/attempt", "ratelimit.urls.attempt.policy=api",
			"ratelimit.urls.writes.path=/writes/**", "ratelimit.urls.writes.policy=writes",
			"ratelimit.urls.writes.methods=post,GET", "ratelimit.urls.both-wide.path=/both/**",
			"ratelimit.urls.both-wide.policy=wide", "ratelimit.urls.both-narrow.path=/both/**",
			"ratelimit.urls.both-narrow.policy=narrow", "ratelimit.urls.heavy.path=/heavy/**",
			"ratelimit.urls.heavy.policy=heavy", "ratelimit.urls.heavy.cost=2",
			"ratelimit.urls.heavier.path=/heavy/er/**", "ratelimit.urls.heavier.policy=heavy",
			"ratelimit.urls.heavier.cost=6", "ratelimit.urls.costly.path=/costly/**",
			"ratelimit.urls.costly.policy=costly", "ratelimit.policies.costly.costs[/costly/export]=5",
			"ratelimit.urls.handled.path=/handled/**", "ratelimit.urls.handled.policy=handled",
			"ratelimit.urls.sms.path=/sms", "ratelimit.urls.sms.policy=sms", "ratelimit.urls.login.path=/secured/login",
			"ratelimit.urls.login.policy=login", "ratelimit.urls.login.before-authentication=true",
			"ratelimit.urls.early.path=/early/**", "ratelimit.urls.early.policy=early",
			"ratelimit.urls.early.before-authentication=true", "ratelimit.urls.early-two.path=/early/two",
			"ratelimit.urls.early-two.policy=early-two", "ratelimit.urls.routes.path=/public/{page}",
			"ratelimit.urls.routes.policy=routes" };

	private static final Map<UrlStack, ConfigurableApplicationContext> STARTED = new EnumMap<>(UrlStack.class);

	private final String user = UUID.randomUUID().toString();

	private static ConfigurableApplicationContext application(UrlStack stack) {
		return STARTED.computeIfAbsent(stack,
				(absent) -> stack.start(List.of(),
						Stream.concat(Stream.of(LIMITS).flatMap((text) -> text.lines()), Stream.of(ENTRIES))
							.toArray(String[]::new)));
	}

	@AfterAll
	static void stop() {
		STARTED.values().forEach(ConfigurableApplicationContext::close);
		STARTED.clear();
	}

	@ParameterizedTest
	@EnumSource
	void pathIsLimitedWithoutCode(UrlStack stack) {
		for (int i = 2; i >= 0; i--) {
			HttpResponse<String> allowed = get(stack, "/api/orders");
			assertThat(allowed.statusCode()).isEqualTo(200);
			assertThat(allowed.body()).isEqualTo("hello");
			assertThat(allowed.headers().allValues("X-RateLimit-Remaining")).containsExactly("" + i);
			assertThat(allowed.headers().allValues("X-RateLimit-Policy")).containsExactly("api");
		}
		HttpResponse<String> refused = get(stack, "/api/orders");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(refused.headers().firstValue("Retry-After")).isPresent();
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(UrlStack.json(refused)).containsEntry("url", "api")
			.containsEntry("policy", "api")
			.containsEntry("limit", "per-user");
	}

	@ParameterizedTest
	@EnumSource
	void otherPathsAreNotLimited(UrlStack stack) {
		assertThat(get(stack, "/").headers().map()).doesNotContainKey("x-ratelimit-policy");
		assertThat(get(stack, "/apis").headers().map()).doesNotContainKey("x-ratelimit-policy");
	}

	static Stream<Arguments> spellings() {
		return Stream.of(UrlStack.values())
			.flatMap((stack) -> Stream
				.of("/api", "/api/", "/api/x/../y", "//api/x", "/api;v=1/x", "/%61pi/x", "/x/../api/y", "/x/%2e%2e/api",
						"/api%2Fx", "/actuator/health/../../api/x", "/API/x", "/%41pI/x", "/x%5c..%5capi", "/api%5Cx",
						"/search/;foo", "/login//../attempt")
				.map((path) -> Arguments.of(stack, path)));
	}

	/** Spring Security's firewall turns some of them away before they are counted. */
	@ParameterizedTest
	@MethodSource("spellings")
	void everySpellingOfAPathIsLimitedOrTurnedAway(UrlStack stack, String path) {
		HttpResponse<String> response = get(stack, path);
		assertThat(response.statusCode() == 400
				|| response.headers().firstValue("X-RateLimit-Policy").equals(Optional.of("api")))
			.as(response.statusCode() + " " + response.headers().map())
			.isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void onlyTheNamedMethodsAreLimited(UrlStack stack) {
		assertThat(send(stack, "POST", "/writes/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
		assertThat(send(stack, "DELETE", "/writes/a").headers().firstValue("X-RateLimit-Remaining")).isEmpty();
		assertThat(send(stack, "GET", "/writes/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("1");
		// Handlers of GET serve HEAD too.
		assertThat(send(stack, "HEAD", "/writes/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("0");
	}

	@ParameterizedTest
	@EnumSource
	void entriesHoldTogetherAndARefusalTakesNothing(UrlStack stack) {
		HttpResponse<String> first = get(stack, "/both/a");
		assertThat(first.headers().allValues("X-RateLimit-Policy")).containsExactly("narrow");
		HttpResponse<String> refused = get(stack, "/both/a");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(UrlStack.json(refused)).containsEntry("url", "both-narrow");
		assertThat(remaining(stack, "wide")).isEqualTo(99);
	}

	@ParameterizedTest
	@EnumSource
	void policyOfTwoEntriesIsChargedOnceWithTheLargerCost(UrlStack stack) {
		assertThat(get(stack, "/heavy/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("8");
		assertThat(get(stack, "/heavy/er/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
		assertThat(get(stack, "/heavy/er/a").statusCode()).isEqualTo(429);
		assertThat(remaining(stack, "heavy")).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void withoutACostTheCostsOfThePolicyDecide(UrlStack stack) {
		assertThat(get(stack, "/costly/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("9");
		assertThat(get(stack, "/costly/export").headers().firstValue("X-RateLimit-Remaining")).hasValue("4");
	}

	/** The gateway's route and the annotation of the handlers both ask for three. */
	@ParameterizedTest
	@EnumSource
	void policyThatRouteOrHandlerNamesTooIsChargedOnce(UrlStack stack) {
		HttpResponse<String> response = get(stack, "/handled/a");
		assertThat(response.headers().allValues("X-RateLimit-Remaining")).containsExactly("7");
		assertThat(get(stack, "/handled/a").headers().allValues("X-RateLimit-Remaining")).containsExactly("4");
		assertThat(get(stack, "/handled/a").headers().allValues("X-RateLimit-Remaining")).containsExactly("1");
		assertThat(get(stack, "/handled/a").statusCode()).isEqualTo(429);
		assertThat(remaining(stack, "handled")).isEqualTo(1);
	}

	@Test
	void otherMethodsAreChargedAtEveryCall() {
		assertThat(get(UrlStack.SERVLET, "/sms").headers().firstValue("X-RateLimit-Remaining")).hasValue("7");
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void fallbackMethodAnswersForARefusedHandler(UrlStack stack) {
		assertThat(get(stack, "/fallback").body()).isEqualTo("hello");
		HttpResponse<String> refused = get(stack, "/fallback");
		assertThat(refused.statusCode()).isEqualTo(200);
		assertThat(refused.body()).isEqualTo("busy");
	}

	@ParameterizedTest
	@EnumSource
	void floodOfBadTokensIsLimitedBeforeAuthentication(UrlStack stack) {
		List<Integer> statuses = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			statuses.add(send(stack, "GET", "/secured/login", "Authorization", "Bearer bad").statusCode());
		}
		assertThat(statuses).containsExactly(401, 401, 401, 429, 429);
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void allAnnotationsOfAHandlerHold(UrlStack stack) {
		HttpResponse<String> allowed = get(stack, "/repeated");
		assertThat(allowed.statusCode()).isEqualTo(200);
		assertThat(allowed.headers().allValues("X-RateLimit-Policy")).containsExactly("handled");
		HttpResponse<String> refused = get(stack, "/repeated");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(UrlStack.json(refused)).containsEntry("policy", "handled");
		assertThat(remaining(stack, "sms")).isEqualTo(9);
		assertThat(remaining(stack, "handled")).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void handlersHeadersAreReplaced(UrlStack stack) {
		HttpResponse<String> response = get(stack, "/api/own/headers");
		assertThat(response.headers().allValues("X-RateLimit-Remaining")).containsExactly("2");
		assertThat(response.headers().allValues("X-RateLimit-Policy")).containsExactly("api");
		assertThat(response.headers().allValues("X-Own")).containsExactly("1", "2");
	}

	@ParameterizedTest
	@EnumSource
	void refusalWithoutNumbersHasNoHeadersOfEarlierEntries(UrlStack stack) {
		HttpResponse<String> refused = send(stack, "GET", "/denied/a", "Authorization", "Bearer denied");
		assertThat(refused.statusCode()).isEqualTo(403);
		assertThat(refused.headers().map().keySet())
			.noneMatch((name) -> name.toLowerCase(Locale.ROOT).contains("ratelimit"));
		assertThat(send(stack, "GET", "/denied/a", "Authorization", "Bearer " + this.user).headers()
			.allValues("X-RateLimit-Limit")).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void permitsOfAnEntryBeforeAuthenticationAreNotGivenBack(UrlStack stack) {
		assertThat(get(stack, "/early/two").statusCode()).isEqualTo(200);
		assertThat(get(stack, "/early/two").statusCode()).isEqualTo(429);
		assertThat(get(stack, "/early/one").headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
	}

	@ParameterizedTest
	@EnumSource
	void routeIsTheNameOfTheEntry(UrlStack stack) {
		IntStream.range(0, 3).forEach((i) -> assertThat(get(stack, "/public/" + i).statusCode()).isEqualTo(200));
		assertThat(get(stack, "/public/3").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@EnumSource
	void preflightIsNotCounted(UrlStack stack) {
		send(stack, "OPTIONS", "/api/a", "Origin", "https://shop.example", "Access-Control-Request-Method", "GET",
				"Authorization", "Bearer " + this.user);
		assertThat(get(stack, "/api/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
		send(stack, "OPTIONS", "/api/a", "Authorization", "Bearer " + this.user);
		assertThat(get(stack, "/api/a").headers().firstValue("X-RateLimit-Remaining")).hasValue("0");
	}

	static Stream<Arguments> declared() {
		return Stream.of(UrlStack.values())
			.flatMap((stack) -> Stream.of(Arguments.of(stack, "account", "?", "Authorization", "Bearer %s"),
					Arguments.of(stack, "shop", "?", "x-shop", "%s"),
					Arguments.of(stack, "page", "?a=b&page=%s", "X-A", "b"),
					Arguments.of(stack, "session", "?", "Cookie", "a=b; sid=%s")));
	}

	@ParameterizedTest
	@MethodSource("declared")
	void declaredDimensionIsCountedBy(UrlStack stack, String dimension, String query, String header, String value) {
		for (String caller : List.of("one-" + this.user, "two-" + this.user)) {
			String path = "/public/by/" + dimension + query.formatted(caller);
			assertThat(send(stack, "GET", path, header, value.formatted(caller)).statusCode()).isNotEqualTo(429);
			assertThat(send(stack, "GET", path, header, value.formatted(caller)).statusCode()).isEqualTo(429);
		}
		// Without the fact, and with two of it, the limit is skipped.
		for (int i = 0; i < 2; i++) {
			assertThat(send(stack, "GET", "/public/by/" + dimension, "X-A", "b").statusCode()).isNotEqualTo(429);
			assertThat(send(stack, "GET", "/public/by/" + dimension + "?page=1&page=2", "X-Shop", "1", "X-Shop", "2",
					"Cookie", "sid=1; sid=2")
				.statusCode()).isNotEqualTo(429);
		}
	}

	@ParameterizedTest
	@EnumSource
	void hostAndMethodAreKnownBeforeAuthentication(UrlStack stack) {
		assertThat(send(stack, "GET", "/public/by/host", "X-A", "b").statusCode()).isNotEqualTo(429);
		HttpResponse<String> refused = send(stack, "GET", "/public/by/host", "Authorization", "Bearer bad");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(UrlStack.json(refused)).containsEntry("scope", "host");
		assertThat(send(stack, "GET", "/public/by/verb", "X-A", "b").statusCode()).isNotEqualTo(429);
		assertThat(send(stack, "PUT", "/public/by/verb", "X-A", "b").statusCode()).isNotEqualTo(429);
		assertThat(send(stack, "GET", "/public/by/verb", "X-A", "b").statusCode()).isEqualTo(429);
	}

	/**
	 * The digest is that of the key {@code sk_prod_1}, which has the tier of its pattern.
	 */
	@ParameterizedTest
	@EnumSource
	void apiKeyInTheQueryHasTheTierOfItsPattern(UrlStack stack) {
		assertThat(send(stack, "GET", "/public/key/a?api_key=sk_prod_1", "X-A", "b").headers()
			.firstValue("X-RateLimit-Limit")).hasValue("50");
		assertThat(send(stack, "GET", "/public/key/a?api_key=sk_prod_" + this.user, "X-A", "b").headers()
			.firstValue("X-RateLimit-Limit")).hasValue("5");
		assertThat(send(stack, "GET", "/public/key/a?api_key=sk_prod_1", "X-API-Key", "other").headers()
			.firstValue("X-RateLimit-Limit")).isEmpty();
	}

	private HttpResponse<String> get(UrlStack stack, String path) {
		return send(stack, "GET", path);
	}

	private HttpResponse<String> send(UrlStack stack, String method, String path) {
		return send(stack, method, path, "Authorization", "Bearer " + this.user);
	}

	private static HttpResponse<String> send(UrlStack stack, String method, String path, String... headers) {
		return UrlStack.send(application(stack), method, path, headers);
	}

	/** Permits that the user has left. */
	private long remaining(UrlStack stack, String policy) {
		return application(stack).getBean(RateLimiter.class)
			.check(Request.of(policy).with(Dimension.USER, this.user).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining();
	}

	/** A dimension with a policy of its own and an entry for it. */
	private static String dimension(String name, String source) {
		return policy("by-" + name, name, "1/h") + "\nratelimit.policies.by-" + name + ".on-missing-identity=skip"
				+ "\nratelimit.dimensions." + name + "." + source + "\nratelimit.urls.by-" + name + ".path=/public/by/"
				+ name + "\nratelimit.urls.by-" + name + ".policy=by-" + name;
	}

	private static String policy(String id, String by, String quota) {
		String at = "ratelimit.policies." + id + ".limits.per-" + by;
		return at + ".by=" + by + "\n" + at + ".quota=" + quota;
	}

}
