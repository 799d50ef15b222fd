package dev.ratelimit.app.fault;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Enforcement;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("alone")
class SilentRedisAtStartIntegrationTests {

	@Test
	void gatewayStartsAndEnforcesLimitsOnceRedisSpeaks() {
		try (RedisServer redis = RedisServer.start(); ChaosProxy network = ChaosProxy.before(redis)) {
			network.swallow();
			try (FaultCase fault = FaultCase.startDuring("started while a listener accepts and never speaks",
					Gateway.on(redis)
						.through(network)
						.modes(Enforcement.STRICT)
						.properties("ratelimit.policies-store.start-timeout=0s"),
					Callers.tenants(Outage.TENANTS))) {
				fault.during(() -> assertThat(network.accepted()).isNotEmpty());
				fault.after(network::heal);
				OpenLoopLoad calls = fault.calls();
				assertThat(calls.total(Calls::failures)).isZero();
				assertThat(calls.total(Outage.ALLOW, Calls::serverErrors)).isZero();
				assertThat(calls.calls(Phase.DURING, Outage.ALLOW).refused()).isZero();
				assertThat(calls.calls(Phase.DURING, Outage.DENY).answered(Answer::unavailable))
					.isEqualTo(calls.calls(Phase.DURING, Outage.DENY).sent());
				assertThat(calls.calls(Phase.AFTER, Outage.ALLOW).refused()).isPositive();
			}
		}
	}

}
