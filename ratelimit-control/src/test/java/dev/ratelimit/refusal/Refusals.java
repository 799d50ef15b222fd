package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;

/**
 * Refusals to test with.
 */
public final class Refusals {

	private static final Limit LIMIT = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "10/m");

	private Refusals() {
	}

	/**
	 * One with all that there can be.
	 */
	public static Refusal full(Instant time, String user) {
		QuotaState quota = new QuotaState("per-user", List.of("tenant", "user"), Quota.parse("10/m burst 20"), 1,
				Duration.ofSeconds(60), Duration.ofMillis(1500));
		Refusal.Verdict verdict = new Refusal.Verdict("orders", 7, Decision.Outcome.REFUSED, Decision.Reason.TIMEOUT,
				Decision.Source.LOCAL, false, FailureMode.LOCAL, 5, quota, "127.0.0.1:6379", false);
		RefusalContext context = new RefusalContext(List.of("a:1", "b:2"), 8, 10, "override", Duration.ofMillis(1234));
		return new Refusal(time, "instance-1", Map.of("tenant", "t-acme", "user", "u-" + user, "route", "/a b/{c}"),
				verdict, context, "4bf92f3577b34da6a3ce929d0e0e4736", 0, Duration.ZERO);
	}

	/**
	 * One with as little as there can be, that stands for several.
	 */
	public static Refusal sparse(Instant time, long repeated, Duration lasted) {
		Refusal.Verdict verdict = new Refusal.Verdict("orders", 0, Decision.Outcome.DENIED, Decision.Reason.LIST,
				Decision.Source.NONE, true, null, 1, null, null, false);
		return new Refusal(time, "instance-2", Map.of(), verdict, calm(0), null, repeated, lasted);
	}

	/**
	 * One of a request that was admitted before.
	 */
	public static Refusal replay(Instant time) {
		Refusal.Verdict verdict = new Refusal.Verdict("orders", 0, Decision.Outcome.REFUSED, Decision.Reason.LIMITS,
				Decision.Source.REDIS, false, null, 1, null, null, true);
		return new Refusal(time, "instance-1", Map.of("user", "u-ann"), verdict, calm(0), null, 0, Duration.ZERO);
	}

	static Decision refused() {
		LimitStatus status = new LimitStatus(LIMIT, LIMIT.quotas().get(0), 0, 60_000_000, 6_000_000, 6_000_000);
		return new Decision("orders", 7, false, Decision.Outcome.REFUSED, Decision.Reason.LIMITS, Decision.Source.REDIS,
				false, null, 1, 0, List.of(status), Receipt.NOTHING, "127.0.0.1:6379");
	}

	static Decision allowed() {
		LimitStatus status = new LimitStatus(LIMIT, LIMIT.quotas().get(0), 9, 6_000_000, 0, 6_000_000);
		return new Decision("orders", 7, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS, Decision.Source.REDIS,
				false, null, 1, 1, List.of(status), Receipt.NOTHING);
	}

	/** No open breaker, no rollout, no recent change. */
	static RefusalContext calm(long version) {
		return new RefusalContext(List.of(), version, 100, null, Duration.ZERO);
	}

	/** The same refusal at another time. */
	public static Refusal at(Instant time, Refusal refusal) {
		return new Refusal(time, refusal.instance(), refusal.caller(), refusal.verdict(), refusal.context(),
				refusal.traceId(), refusal.repeated(), refusal.lasted());
	}

}
