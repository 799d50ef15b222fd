package dev.ratelimit.web;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.web.HeaderOptions.Degraded;
import dev.ratelimit.web.HeaderOptions.Style;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class HttpAnswersTests {

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER),
			"100/s burst 200", "3000/m");

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "100/m");

	private static final Limit ALL = Limit.of("all", List.of(), "5/10s");

	private static final LimitStatus USER_SECOND = new LimitStatus(PER_USER, PER_USER.quotas().get(0), 199, 10_000, 0,
			10_000);

	private static final LimitStatus USER_MINUTE = new LimitStatus(PER_USER, PER_USER.quotas().get(1), 2_999, 20_000, 0,
			20_000);

	private static final LimitStatus TENANT_REFUSES = new LimitStatus(PER_TENANT, PER_TENANT.quotas().get(0), 0,
			59_400_001, 1_400_001, 600_000);

	private static final LimitStatus TENANT_NEVER = new LimitStatus(PER_TENANT, PER_TENANT.quotas().get(0), 100, 0,
			LimitStatus.NEVER, 0);

	private final AtomicLong now = new AtomicLong(1_767_225_600_000L);

	private final HttpAnswers answers = answers(HeaderOptions.DEFAULTS);

	@Test
	void anAllowedRequestHearsOfItsMostConstrainedQuota() {
		HttpAnswer answer = this.answers.answer(allowed(USER_SECOND, USER_MINUTE), "t1");
		assertThat(answer.status()).isZero();
		assertThat(answer.body()).isNull();
		assertThat(answer.headers()).containsExactly(Map.entry("X-RateLimit-Limit", "200"),
				Map.entry("X-RateLimit-Remaining", "199"), Map.entry("X-RateLimit-Reset", "1767225601"),
				Map.entry("X-RateLimit-Policy", "orders"),
				Map.entry("RateLimit-Policy", "\"per-user-1s\";q=100;w=1, \"per-user-1m\";q=3000;w=60"),
				Map.entry("RateLimit", "\"per-user-1s\";r=199;t=1"));
	}

	@Test
	void policyFieldIsMadeOnceForCallersWithTheSameQuotas() {
		String text = this.answers.answer(allowed(USER_SECOND, USER_MINUTE), null).headers().get("RateLimit-Policy");
		LimitStatus later = new LimitStatus(PER_USER, PER_USER.quotas().get(0), 1, 2, 0, 3);
		assertThat(this.answers.answer(allowed(later, USER_MINUTE), null).headers().get("RateLimit-Policy"))
			.isSameAs(text);
		Limit larger = PER_USER.withQuotas(List.of(Quota.parse("200/s"), PER_USER.quotas().get(1)));
		LimitStatus premium = new LimitStatus(larger, larger.quotas().get(0), 1, 2, 0, 3);
		assertThat(this.answers.answer(allowed(premium, USER_MINUTE), null).headers()).containsEntry("RateLimit-Policy",
				"\"per-user-1s\";q=200;w=1, \"per-user-1m\";q=3000;w=60");
		assertThat(this.answers.answer(allowed(USER_SECOND), null).headers()).containsEntry("RateLimit-Policy",
				"\"per-user-1s\";q=100;w=1");
	}

	@Test
	void tiersOfAPolicyDoNotPushEachOthersPolicyFieldOut() {
		Limit pro = PER_TENANT.withQuotas(List.of(Quota.parse("1000/m")));
		String free = policyField(PER_TENANT);
		String paid = policyField(pro);
		assertThat(paid).isEqualTo("\"per-tenant\";q=1000;w=60").isNotEqualTo(free);
		assertThat(policyField(PER_TENANT)).isSameAs(free);
		assertThat(policyField(pro)).isSameAs(paid);
	}

	@Test
	void editOfAPolicyChangesThePolicyField() {
		assertThat(policyField(PER_TENANT)).isEqualTo("\"per-tenant\";q=100;w=60");
		Limit renamed = new Limit("per-company", PER_TENANT.by(), PER_TENANT.quotas());
		assertThat(policyField(renamed)).isEqualTo("\"per-company\";q=100;w=60");
		assertThat(policyField(PER_TENANT.withQuotas(List.of(Quota.parse("100/h")))))
			.isEqualTo("\"per-tenant\";q=100;w=3600");
	}

	@Test
	void policyFieldsThatAreKeptAreBounded() {
		List<Limit> limits = IntStream.rangeClosed(1, 5_000)
			.mapToObj((permits) -> PER_TENANT.withQuotas(List.of(Quota.parse(permits + "/m"))))
			.toList();
		List<String> texts = limits.stream().map(this::policyField).toList();
		long kept = 0;
		for (int i = limits.size() - 1; i >= 0; i--) {
			String again = policyField(limits.get(i));
			assertThat(again).isEqualTo("\"per-tenant\";q=" + (i + 1) + ";w=60");
			kept += (again == texts.get(i)) ? 1 : 0;
		}
		assertThat(kept).isBetween(1L, 256L);
	}

	@Test
	void aLimitWithOneQuotaGoesByItsName() {
		LimitStatus full = new LimitStatus(ALL, ALL.quotas().get(0), 5, 0, 0, 0);
		HttpAnswer answer = this.answers.answer(allowed(full), null);
		assertThat(answer.headers()).containsEntry("RateLimit-Policy", "\"all\";q=5;w=10")
			.containsEntry("RateLimit", "\"all\";r=5;t=0")
			.containsEntry("X-RateLimit-Reset", "1767225600");
	}

	@Test
	void aRefusedRequestHearsWhyAndForHowLong() throws Exception {
		HttpAnswer answer = this.answers.answer(refused(USER_SECOND, TENANT_REFUSES), "4bf92f35");
		assertThat(answer.status()).isEqualTo(429);
		assertThat(answer.headers()).containsExactly(Map.entry("X-RateLimit-Limit", "100"),
				Map.entry("X-RateLimit-Remaining", "0"), Map.entry("X-RateLimit-Reset", "1767225660"),
				Map.entry("X-RateLimit-Policy", "orders"),
				Map.entry("RateLimit-Policy", "\"per-user-1s\";q=100;w=1, \"per-tenant\";q=100;w=60"),
				Map.entry("RateLimit", "\"per-tenant\";r=0;t=2"), Map.entry("X-RateLimit-Scope", "tenant"),
				Map.entry("Retry-After", "2"));
		assertThat(json(answer)).isEqualTo(new ObjectMapper().readTree("""
				{
				  "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
				  "title": "Quota exceeded",
				  "status": 429,
				  "detail": "Limit of 100 per 60 s exceeded for tenant",
				  "policy": "orders",
				  "limit": "per-tenant",
				  "scope": "tenant",
				  "quota": "100/m",
				  "window": 60,
				  "retryAfter": 2,
				  "retryAfterMs": 1401,
				  "resetAt": "2026-01-01T00:01:00Z",
				  "violated-policies": ["per-tenant"],
				  "traceId": "4bf92f35"
				}
				"""));
	}

	@Test
	void theLongestWaitIsToldAndEveryRefusingQuotaNamed() throws Exception {
		LimitStatus user = new LimitStatus(PER_USER, PER_USER.quotas().get(1), 0, 1, 9_000_000, 1);
		HttpAnswer answer = this.answers.answer(refused(TENANT_REFUSES, user), " ");
		assertThat(answer.headers()).containsEntry("X-RateLimit-Scope", "user").containsEntry("Retry-After", "9");
		JsonNode problem = json(answer);
		assertThat(problem.get("violated-policies").toString()).isEqualTo("[\"per-tenant\",\"per-user-1m\"]");
		assertThat(problem.get("quota").asText()).isEqualTo("3000/m");
		assertThat(problem.has("traceId")).isFalse();
	}

	@Test
	void retryAfterIsJitteredUpwardsAndTheBodySaysTheSame() throws Exception {
		HttpAnswers latest = new HttpAnswers(HeaderOptions.DEFAULTS, this.now::get, (most) -> most, List.of());
		LimitStatus wait = new LimitStatus(PER_TENANT, PER_TENANT.quotas().get(0), 0, 0, 20_000_000, 0);
		HttpAnswer answer = latest.answer(refused(wait), null);
		assertThat(answer.headers()).containsEntry("Retry-After", "30")
			.containsEntry("RateLimit", "\"per-tenant\";r=0;t=20");
		assertThat(json(answer).get("retryAfter").asLong()).isEqualTo(30);
		assertThat(json(answer).get("retryAfterMs").asLong()).isEqualTo(20_000);
	}

	@Test
	void aCostThatNeverFitsHasNoRetryAfter() throws Exception {
		HttpAnswer answer = this.answers.answer(refused(TENANT_REFUSES, TENANT_NEVER), null);
		assertThat(answer.status()).isEqualTo(429);
		assertThat(answer.headers()).doesNotContainKey("Retry-After")
			.containsEntry("RateLimit", "\"per-tenant\";r=100")
			.containsEntry("X-RateLimit-Remaining", "100");
		JsonNode problem = json(answer);
		assertThat(problem.get("detail").asText()).isEqualTo(
				"Cost of 150 never fits under the limit of 100 per 60 s for tenant, which admits at most 100 at once");
		assertThat(problem.has("retryAfter")).isFalse();
		assertThat(problem.has("retryAfterMs")).isFalse();
	}

	@Test
	void aLimitOnAllCallersSaysSo() throws Exception {
		LimitStatus all = new LimitStatus(ALL, ALL.quotas().get(0), 0, 1, 1, 1);
		HttpAnswer answer = this.answers.answer(refused(all), null);
		assertThat(answer.headers()).containsEntry("X-RateLimit-Scope", "global").containsEntry("Retry-After", "1");
		assertThat(json(answer).get("detail").asText()).isEqualTo("Limit of 5 per 10 s exceeded for all callers");
	}

	@Test
	void whoIsMissingAnIdentityGets401() throws Exception {
		HttpAnswer answer = this.answers.answer(without(false, Decision.Outcome.DENIED, Decision.Reason.IDENTITY),
				"t1");
		assertThat(answer.status()).isEqualTo(401);
		assertThat(answer.headers()).isEqualTo(Map.of("WWW-Authenticate", "Bearer"));
		JsonNode problem = json(answer);
		assertThat(problem.get("status").asInt()).isEqualTo(401);
		assertThat(problem.get("type").asText()).isEqualTo("about:blank");
		assertThat(problem.get("policy").asText()).isEqualTo("orders");
		assertThat(problem.get("traceId").asText()).isEqualTo("t1");
	}

	@Test
	void whoIsDenyListedGets403() throws Exception {
		HttpAnswer answer = this.answers.answer(without(false, Decision.Outcome.DENIED, Decision.Reason.LIST), null);
		assertThat(answer.status()).isEqualTo(403);
		assertThat(answer.headers()).isEmpty();
		assertThat(json(answer).get("title").asText()).isEqualTo("Forbidden");
	}

	@ParameterizedTest
	@EnumSource(value = Decision.Reason.class,
			names = { "TIMEOUT", "UNAVAILABLE", "CORRUPT", "INTERNAL", "UNKNOWN_POLICY" })
	void whenNobodyKnowsItIs503WithRetryAfter(Decision.Reason reason) throws Exception {
		Decision decision = without(false, Decision.Outcome.ERROR, reason);
		HttpAnswer answer = this.answers.answer(decision, null);
		assertThat(answer.status()).isEqualTo(503);
		assertThat(answer.headers()).containsExactly(Map.entry("Retry-After", "1"));
		JsonNode problem = json(answer);
		assertThat(problem.get("type").asText())
			.isEqualTo("https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");
		assertThat(problem.get("retryAfter").asInt()).isOne();
		assertThat(problem.get("retryAfterMs").asInt()).isEqualTo(1_000);
		HttpAnswers latest = new HttpAnswers(HeaderOptions.DEFAULTS, this.now::get, (most) -> most, List.of());
		assertThat(latest.answer(decision, null).headers()).containsEntry("Retry-After", "2");
	}

	@Test
	void bannedCallerHearsOfAbnormalUsageAndOfTheRestOfItsBan() throws Exception {
		Decision banned = penalised(Decision.Outcome.DENIED, Decision.Reason.BAN);
		HttpAnswer answer = this.answers.answer(banned, "t1");
		assertThat(answer.status()).isEqualTo(429);
		assertThat(answer.headers()).containsOnlyKeys("Retry-After");
		assertThat(Long.parseLong(answer.headers().get("Retry-After"))).isBetween(3_600L, 3_610L);
		JsonNode problem = new ObjectMapper().readTree(answer.body());
		assertThat(problem.get("type").asText())
			.isEqualTo("https://iana.org/assignments/http-problem-types#abnormal-usage-detected");
		assertThat(problem.get("policy").asText()).isEqualTo("orders");
		assertThat(problem.get("limit").asText()).isEqualTo("per-user");
		assertThat(problem.get("scope").asText()).isEqualTo("user");
		assertThat(problem.get("retryAfterMs").asLong()).isEqualTo(3_600_000);
		assertThat(this.answers.retryAfter(banned)).isBetween(3_600L, 3_610L);
	}

	@Test
	void callerInACoolDownHearsOfItsLimitAndOfTheRestOfTheCoolDown() throws Exception {
		HttpAnswer answer = this.answers.answer(penalised(Decision.Outcome.REFUSED, Decision.Reason.COOL_DOWN), "t1");
		assertThat(answer.status()).isEqualTo(429);
		assertThat(answer.headers()).containsEntry("X-RateLimit-Remaining", "0")
			.containsEntry("X-RateLimit-Scope", "user");
		assertThat(Long.parseLong(answer.headers().get("Retry-After"))).isBetween(3_600L, 3_610L);
		JsonNode problem = new ObjectMapper().readTree(answer.body());
		assertThat(problem.get("type").asText()).endsWith("#quota-exceeded");
		assertThat(problem.get("detail").asText()).contains("cool-down");
	}

	private static Decision penalised(Decision.Outcome outcome, Decision.Reason reason) {
		long hour = Duration.ofHours(1).toMillis() * 1_000;
		return new Decision("orders", 0, false, outcome, reason, Decision.Source.NONE, false, null, 1, 0,
				List.of(new LimitStatus(PER_USER, PER_USER.quotas().get(0), 0, hour, hour, hour)), Receipt.NOTHING);
	}

	@Test
	void whenDegradedTheMarkerIsAllThatIsSaid() {
		Map.Entry<String, String> remaining = Map.entry("X-RateLimit-Remaining", "-1");
		Map.Entry<String, String> policy = Map.entry("X-RateLimit-Policy", "degraded");
		HttpAnswer open = this.answers.answer(without(true, Decision.Outcome.ERROR, Decision.Reason.TIMEOUT), null);
		assertThat(open.status()).isZero();
		assertThat(open.headers()).containsExactly(remaining, policy);
		HttpAnswer local = this.answers.answer(degraded(true, USER_SECOND), null);
		assertThat(local.status()).isZero();
		assertThat(local.headers()).containsExactly(remaining, policy);
	}

	@Test
	void theMarkerCanBeOmitted() {
		HttpAnswers omit = answers(new HeaderOptions(List.of(Style.BOTH), Degraded.OMIT));
		assertThat(omit.answer(degraded(true, USER_SECOND), null).headers()).isEmpty();
		assertThat(omit.answer(degraded(false, TENANT_REFUSES), null).headers())
			.containsExactly(Map.entry("X-RateLimit-Scope", "tenant"), Map.entry("Retry-After", "2"));
	}

	@Test
	void aDegradedRefusalHasScopeAndRetryAfter() throws Exception {
		HttpAnswer answer = this.answers.answer(degraded(false, TENANT_REFUSES), null);
		assertThat(answer.status()).isEqualTo(429);
		assertThat(answer.headers()).containsExactly(Map.entry("X-RateLimit-Policy", "degraded"),
				Map.entry("X-RateLimit-Scope", "tenant"), Map.entry("Retry-After", "2"));
		assertThat(json(answer).get("policy").asText()).isEqualTo("orders");
	}

	@Test
	void shadowWritesNothing() {
		for (Decision decision : List.of(allowed(USER_SECOND), refused(TENANT_REFUSES), degraded(true, USER_SECOND),
				without(false, Decision.Outcome.DENIED, Decision.Reason.IDENTITY),
				without(false, Decision.Outcome.ERROR, Decision.Reason.TIMEOUT))) {
			assertThat(this.answers.answer(decision.inShadow(), "t1")).isEqualTo(new HttpAnswer(0, Map.of(), null));
		}
	}

	@Test
	void whoBypassedTheLimitsHearsNothing() {
		Decision decision = without(true, Decision.Outcome.BYPASSED, Decision.Reason.LIST);
		assertThat(this.answers.answer(decision, "t1")).isEqualTo(new HttpAnswer(0, Map.of(), null));
	}

	@Test
	void styleChoosesTheFieldsButRetryAfterStays() {
		Decision allowed = allowed(USER_SECOND);
		Decision refused = refused(TENANT_REFUSES);
		HttpAnswers legacy = answers(new HeaderOptions(List.of(Style.LEGACY), Degraded.MARKER));
		assertThat(legacy.answer(allowed, null).headers()).containsOnlyKeys("X-RateLimit-Limit",
				"X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Policy");
		assertThat(legacy.answer(refused, null).headers()).containsKeys("X-RateLimit-Scope", "Retry-After")
			.doesNotContainKeys("RateLimit", "RateLimit-Policy");
		HttpAnswers draft = answers(new HeaderOptions(List.of(Style.DRAFT), Degraded.MARKER));
		assertThat(draft.answer(allowed, null).headers()).containsOnlyKeys("RateLimit-Policy", "RateLimit");
		assertThat(draft.answer(refused, null).headers()).containsOnlyKeys("RateLimit-Policy", "RateLimit",
				"Retry-After");
		assertThat(draft.answer(degraded(true, USER_SECOND), null).headers()).isEmpty();
		HttpAnswers none = answers(new HeaderOptions(List.of(Style.NONE), Degraded.MARKER));
		assertThat(none.answer(allowed, null).headers()).isEmpty();
		assertThat(none.answer(degraded(true, USER_SECOND), null).headers()).isEmpty();
		assertThat(none.answer(refused, null).headers()).containsOnlyKeys("Retry-After");
		assertThat(none.answer(refused, null).status()).isEqualTo(429);
	}

	@Test
	void separateFieldsHaveTheResetInSecondsFromNow() {
		HttpAnswers separate = answers(new HeaderOptions(List.of(Style.SEPARATE), Degraded.MARKER));
		Decision allowed = allowed(new LimitStatus(ALL, ALL.quotas().get(0), 3, 1_500_000, 0, 5));
		assertThat(separate.answer(allowed, null).headers()).containsOnly(
				Map.entry("RateLimit-Limit", Long.toString(ALL.quotas().get(0).burst())),
				Map.entry("RateLimit-Remaining", "3"), Map.entry("RateLimit-Reset", "2"));
		assertThat(separate.answer(refused(TENANT_REFUSES), null).headers()).containsOnlyKeys("RateLimit-Limit",
				"RateLimit-Remaining", "RateLimit-Reset", "Retry-After");
		assertThat(separate.answer(degraded(true, USER_SECOND), null).headers()).isEmpty();
	}

	@Test
	void stylesCanBeCombined() {
		HttpAnswers all = answers(new HeaderOptions(List.of(Style.SEPARATE, Style.DRAFT), Degraded.MARKER));
		assertThat(all.answer(allowed(USER_SECOND), null).headers()).containsOnlyKeys("RateLimit-Limit",
				"RateLimit-Remaining", "RateLimit-Reset", "RateLimit", "RateLimit-Policy");
	}

	@Test
	void ofSeveralDecisionsTheMostConstrainedIsTold() {
		Decision wide = allowed(USER_SECOND);
		Decision narrow = allowed(new LimitStatus(ALL, ALL.quotas().get(0), 3, 5, 0, 5));
		Decision narrowAndLong = allowed(new LimitStatus(PER_TENANT, PER_TENANT.quotas().get(0), 3, 6, 0, 6));
		Decision bypassed = without(true, Decision.Outcome.BYPASSED, Decision.Reason.LIST);
		Decision shadow = refused(TENANT_REFUSES).inShadow();
		assertThat(this.answers.answer(List.of(bypassed, wide, narrow, narrowAndLong, shadow), null))
			.isEqualTo(this.answers.answer(narrowAndLong, null));
		assertThat(this.answers.answer(List.of(wide, narrow), null)).isEqualTo(this.answers.answer(narrow, null));
		assertThat(this.answers.answer(List.of(bypassed, shadow), null)).isEqualTo(new HttpAnswer(0, Map.of(), null));
		assertThat(this.answers.answer(List.<Decision>of(), null)).isEqualTo(new HttpAnswer(0, Map.of(), null));
	}

	@Test
	void ofSeveralDecisionsOneThatIsDegradedMarksTheAnswer() {
		Decision open = without(true, Decision.Outcome.ERROR, Decision.Reason.TIMEOUT);
		assertThat(this.answers.answer(List.of(allowed(USER_SECOND), open), null).headers())
			.containsEntry("X-RateLimit-Policy", "degraded");
	}

	@Test
	void ofSeveralDecisionsTheOneThatTurnedTheRequestAwayDecides() {
		Decision refused = refused(TENANT_REFUSES);
		Decision open = without(true, Decision.Outcome.ERROR, Decision.Reason.TIMEOUT);
		assertThat(this.answers.answer(List.of(open, allowed(USER_SECOND), refused), "t1"))
			.isEqualTo(this.answers.answer(refused, "t1"));
	}

	@Test
	void customizersChangeTheBodyInTheirOrder() throws Exception {
		HttpAnswers customized = answers((problem, decision) -> {
			problem.put("title", "Slow down");
			problem.put("links", List.of("https://example.org/limits"));
			problem.put("cost", decision.cost());
		}, (problem, decision) -> problem.remove("links"), (problem, decision) -> problem.remove("detail"));
		HttpAnswer answer = customized.answer(refused(TENANT_REFUSES), null);
		JsonNode problem = json(answer);
		assertThat(answer.status()).isEqualTo(429);
		assertThat(problem.get("title").asText()).isEqualTo("Slow down");
		assertThat(problem.get("cost").asInt()).isEqualTo(150);
		assertThat(problem.has("links")).isFalse();
		assertThat(problem.has("detail")).isFalse();
	}

	@Test
	void aCustomizerThatFailsLeavesTheBodyAsItIsAndIsLoggedOnce(CapturedOutput output) {
		HttpAnswers failing = answers((problem, decision) -> problem.clear(), (problem, decision) -> {
			throw new IllegalStateException("broken");
		});
		HttpAnswers endless = answers((problem, decision) -> problem.put("self", problem));
		String expected = this.answers.answer(refused(TENANT_REFUSES), "t1").body();
		for (int i = 0; i < 3; i++) {
			assertThat(failing.answer(refused(TENANT_REFUSES), "t1").body()).isEqualTo(expected);
			assertThat(endless.answer(refused(TENANT_REFUSES), "t1").body()).isEqualTo(expected);
		}
		assertThat(output.getOut().split("problem customizer failed", -1)).hasSize(3);
	}

	@Test
	void aTraceIdCannotBreakOutOfTheBody() throws Exception {
		String hostile = "\"}\r\n{\0<script>\u2028\\";
		HttpAnswer answer = this.answers.answer(refused(TENANT_REFUSES), hostile);
		assertThat(json(answer).get("traceId").asText()).isEqualTo(hostile);
		assertThat(answer.headers().values()).allMatch((value) -> value.chars().allMatch((c) -> c >= ' ' && c < 0x7f));
	}

	@Test
	void resetIsTheFirstWholeSecondAtWhichTheCounterIsFull() {
		this.now.set(1_767_225_600_500L);
		LimitStatus status = new LimitStatus(ALL, ALL.quotas().get(0), 4, Duration.ofMillis(500).toMillis() * 1_000, 0,
				1);
		assertThat(this.answers.answer(allowed(status), null).headers()).containsEntry("X-RateLimit-Reset",
				"1767225601");
		this.now.incrementAndGet();
		assertThat(this.answers.answer(allowed(status), null).headers()).containsEntry("X-RateLimit-Reset",
				"1767225602");
	}

	private String policyField(Limit limit) {
		LimitStatus status = new LimitStatus(limit, limit.quotas().get(0), 1, 2, 0, 3);
		return this.answers.answer(allowed(status), null).headers().get("RateLimit-Policy");
	}

	private HttpAnswers answers(HeaderOptions options) {
		return new HttpAnswers(options, this.now::get, (most) -> 0, List.of());
	}

	private HttpAnswers answers(ProblemCustomizer... customizers) {
		return new HttpAnswers(HeaderOptions.DEFAULTS, this.now::get, (most) -> 0, List.of(customizers));
	}

	private static JsonNode json(HttpAnswer answer) throws Exception {
		return new ObjectMapper().readTree(answer.body());
	}

	private static Decision allowed(LimitStatus... limits) {
		return new Decision("orders", 3, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS, Decision.Source.REDIS,
				false, null, 1, 1, List.of(limits), Receipt.NOTHING);
	}

	private static Decision refused(LimitStatus... limits) {
		return new Decision("orders", 3, false, Decision.Outcome.REFUSED, Decision.Reason.LIMITS, Decision.Source.REDIS,
				false, null, 150, 0, List.of(limits), Receipt.NOTHING);
	}

	private static Decision degraded(boolean allowed, LimitStatus... limits) {
		Decision.Outcome outcome = allowed ? Decision.Outcome.ALLOWED : Decision.Outcome.REFUSED;
		return new Decision("orders", 3, allowed, outcome, Decision.Reason.TIMEOUT, Decision.Source.LOCAL, false,
				FailureMode.LOCAL, 1, 0, List.of(limits), Receipt.NOTHING);
	}

	private static Decision without(boolean allowed, Decision.Outcome outcome, Decision.Reason reason) {
		return Decision.without(Request.of("orders"), 3, allowed, outcome, reason);
	}

}
