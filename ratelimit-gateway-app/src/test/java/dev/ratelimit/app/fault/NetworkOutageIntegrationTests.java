package dev.ratelimit.app.fault;

import java.time.Duration;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

import dev.ratelimit.Enforcement;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

/** Faults of what is between a gateway and Redis. */
@Tag("alone")
class NetworkOutageIntegrationTests {

	@Nested
	class Strict extends OfTheNetwork {

		Strict() {
			super(Enforcement.STRICT);
		}

	}

	@Nested
	class Leased extends OfTheNetwork {

		Leased() {
			super(Enforcement.LEASED);
		}

	}

	private abstract static class OfTheNetwork extends Outages {

		private RedisServer redis;

		private ChaosProxy network;

		OfTheNetwork(Enforcement enforcement) {
			super(enforcement);
		}

		@Override
		Gateway.Settings startRedis() {
			this.redis = RedisServer.start();
			this.network = ChaosProxy.before(this.redis);
			return Gateway.on(this.redis).through(this.network);
		}

		@Override
		void stopRedis() {
			this.network.close();
			this.redis.close();
		}

		private abstract class Disturbed extends Outage {

			Disturbed(String name, Duration time) {
				super(OfTheNetwork.this, name, time);
			}

			ChaosProxy network() {
				return OfTheNetwork.this.network;
			}

			@Override
			void repair() {
				network().heal();
			}

		}

		/** Connections break, and whatever answers the new ones does not speak. */
		@Nested
		class Silent extends Disturbed {

			Silent() {
				super("a listener that accepts and never speaks", Duration.ofSeconds(4));
			}

			@Override
			void inject(Duration time) {
				network().refuse();
				network().swallow();
			}

		}

		/** Connections stay open and dead, also when packets get through again. */
		@Nested
		class Dropping extends Disturbed {

			Dropping() {
				super("packets dropped", Duration.ZERO);
			}

			@Override
			void inject(Duration time) {
				network().swallow();
			}

		}

		/**
		 * Long enough for the breaker to try again, and to find that nothing is better.
		 */
		@Nested
		class Slow extends Disturbed {

			Slow() {
				super(Faults.latency().toMillis() + " ms of latency and more", Duration.ofSeconds(8));
			}

			@Override
			void inject(Duration time) {
				network().delayReplies(Faults.latency(), Duration.ofMillis(25));
			}

		}

	}

}
