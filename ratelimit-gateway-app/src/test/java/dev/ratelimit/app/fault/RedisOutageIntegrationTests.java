package dev.ratelimit.app.fault;

import java.time.Duration;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

import dev.ratelimit.Enforcement;
import dev.ratelimit.testing.RedisServer;

/** Faults of the server itself. */
@Tag("alone")
class RedisOutageIntegrationTests {

	@Nested
	class Strict extends OfRedis {

		Strict() {
			super(Enforcement.STRICT);
		}

	}

	@Nested
	class Leased extends OfRedis {

		Leased() {
			super(Enforcement.LEASED);
		}

	}

	private abstract static class OfRedis extends Outages {

		private RedisServer redis;

		OfRedis(Enforcement enforcement) {
			super(enforcement);
		}

		@Override
		Gateway.Settings startRedis() {
			this.redis = RedisServer.start();
			// The first command starts a client, which must not be busy when the fault
			// begins.
			this.redis.cli("PING");
			return Gateway.on(this.redis);
		}

		@Override
		void stopRedis() {
			this.redis.close();
		}

		@Nested
		class Killed extends Outage {

			Killed() {
				super(OfRedis.this, "kill -9, restart", Duration.ZERO);
			}

			@Override
			void inject(Duration time) {
				OfRedis.this.redis.kill();
			}

			@Override
			void repair() {
				OfRedis.this.redis.restart();
			}

		}

		/**
		 * Long enough for connections to be given up and made anew, which the kernel
		 * does.
		 */
		@Nested
		class Stopped extends Outage {

			Stopped() {
				super(OfRedis.this, "SIGSTOP, SIGCONT", Duration.ofSeconds(4));
			}

			@Override
			void inject(Duration time) {
				OfRedis.this.redis.freeze();
			}

			@Override
			void repair() {
				OfRedis.this.redis.thaw();
			}

		}

		/**
		 * Shorter than connections are given up: all that was sent is answered in the
		 * end.
		 */
		@Nested
		class Paused extends Outage {

			Paused() {
				super(OfRedis.this, "CLIENT PAUSE", Duration.ZERO);
			}

			@Override
			void inject(Duration time) {
				OfRedis.this.redis.cli("CLIENT", "PAUSE", String.valueOf(time.plusMillis(100).toMillis()), "ALL");
			}

			/** Nothing but time ends a pause, also not for this. */
			@Override
			void repair() {
				OfRedis.this.redis.cli("PING");
			}

		}

	}

}
