package dev.ratelimit.app.fault;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

/** Faults of what is between a gateway and Redis. */
class NetworkOutageIntegrationTests {

	private static RedisServer redis;

	private static ChaosProxy network;

	private static Gateways gateways;

	@BeforeAll
	static void start() {
		redis = RedisServer.start();
		network = ChaosProxy.before(redis);
		gateways = Gateways.start(Gateway.on(redis).through(network).modes().instances(2),
				Callers.tenants(Outage.TENANTS));
	}

	@AfterAll
	static void stop() {
		gateways.close();
		network.close();
		redis.close();
	}

	private abstract static class OfTheNetwork extends Outage {

		OfTheNetwork(String name, Duration time) {
			super(name, time);
		}

		@Override
		Gateways gateways() {
			return gateways;
		}

		@Override
		void repair() {
			network.heal();
		}

	}

	/** Connections break, and whatever answers the new ones does not speak. */
	@Nested
	class Silent extends OfTheNetwork {

		Silent() {
			super("a listener that accepts and never speaks", Duration.ofSeconds(4));
		}

		@Override
		void inject(Duration time) {
			network.refuse();
			network.swallow();
		}

	}

	/** Connections stay open and dead, also when packets get through again. */
	@Nested
	class Dropping extends OfTheNetwork {

		Dropping() {
			super("packets dropped", Duration.ZERO);
		}

		@Override
		void inject(Duration time) {
			network.swallow();
		}

	}

	/** Long enough for the breaker to try again, and to find that nothing is better. */
	@Nested
	class Slow extends OfTheNetwork {

		Slow() {
			super("50 to 75 ms of latency", Duration.ofSeconds(8));
		}

		@Override
		void inject(Duration time) {
			network.delayReplies(Duration.ofMillis(50), Duration.ofMillis(25));
		}

	}

}
