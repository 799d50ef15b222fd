package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.fleet.SwitchStore;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What still holds while the switch lets everything pass, wherever counters are kept.
 */
public abstract class SwitchContract {

	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private static final ForcedMode ALLOW = new ForcedMode(FailureMode.ALLOW, Duration.ofHours(1), "ann", "incident");

	private static final AccessList DENIED = new AccessList(List.of(Map.of(Dimension.TENANT, "banned")));

	private final Request caller = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "10.0.0.1");

	private final ModeSwitch modeSwitch = new ModeSwitch(null, SwitchStore.NONE, System::nanoTime);

	/**
	 * Where counters are kept, empty.
	 */
	protected abstract Counters counters();

	@Test
	void limitIsForgottenWhileTheSwitchIsOnAndHoldsAgainAfterwards() {
		PolicyRateLimiter limiter = limiter(policies(null));
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		this.modeSwitch.turnOn(ALLOW);
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		this.modeSwitch.turnOff();
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.REFUSED);
	}

	@Test
	void denyListRefusesWhileTheSwitchIsOn() {
		PolicyRateLimiter limiter = limiter(policies(null));
		this.modeSwitch.turnOn(ALLOW);
		Decision denied = check(limiter, this.caller.with(Dimension.TENANT, "banned"));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.reason()).isEqualTo(Decision.Reason.LIST);
		assertThat(check(limiter, this.caller).allowed()).isTrue();
	}

	@Test
	void entryOfTheDenyListThatIsWrittenWhileTheSwitchIsOnHolds() {
		PolicySet policies = policies(null);
		PolicyRateLimiter limiter = limiter(policies);
		this.modeSwitch.turnOn(ALLOW);
		assertThat(check(limiter, this.caller).allowed()).isTrue();
		policies.records().addDenied(Map.of(Dimension.IP, "10.0.0.0/24"));
		assertThat(check(limiter, this.caller).reason()).isEqualTo(Decision.Reason.LIST);
	}

	@Test
	void floorHoldsPerIpWhileTheSwitchIsOn() {
		PolicyRateLimiter limiter = limiter(policies(Quota.parse("2/h")));
		this.modeSwitch.turnOn(ALLOW);
		for (int i = 0; i < 2; i++) {
			Decision passed = check(limiter, this.caller);
			assertThat(passed.allowed()).isTrue();
			assertThat(passed.reason()).isEqualTo(Decision.Reason.SWITCH);
		}
		Decision refused = check(limiter, this.caller.with(Dimension.TENANT, "beta"));
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.degraded()).isTrue();
		assertThat(check(limiter, this.caller.with(Dimension.IP, "10.0.0.2")).allowed()).isTrue();
	}

	@Test
	void ceilingHoldsForAllCallersWhileTheSwitchIsOn() {
		PolicyRateLimiter limiter = limiter(policies(null, Quota.parse("2/h")));
		this.modeSwitch.turnOn(ALLOW);
		assertThat(check(limiter, this.caller).allowed()).isTrue();
		assertThat(check(limiter, this.caller.with(Dimension.TENANT, "beta")).allowed()).isTrue();
		Decision refused = check(limiter, this.caller.with(Dimension.TENANT, "gamma"));
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.degraded()).isTrue();
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		Fallback fallback = new Fallback(new MemoryCounters(1_000, MemoryCounters::systemMicros), () -> 1,
				this.modeSwitch::mode);
		return RateLimiterBuilder.on(counters()).policies(() -> policies).fallback(fallback).options(PATIENT).build();
	}

	private static PolicySet policies(Quota floor) {
		return policies(floor, null);
	}

	private static PolicySet policies(Quota floor, Quota ceiling) {
		Policy policy = Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), "1/h")
			.degradedFloor(floor)
			.degradedCeiling(ceiling)
			.build();
		return new PolicySet(List.of(policy), AccessList.EMPTY, DENIED);
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

}
