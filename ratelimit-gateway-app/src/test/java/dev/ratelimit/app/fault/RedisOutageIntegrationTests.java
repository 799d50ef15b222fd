package dev.ratelimit.app.fault;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import dev.ratelimit.testing.RedisServer;

/** Faults of the server itself. */
class RedisOutageIntegrationTests {

	private static RedisServer redis;

	private static Gateways gateways;

	@BeforeAll
	static void start() {
		redis = RedisServer.start();
		// The first command starts a client, which must not be busy when the fault
		// begins.
		redis.cli("PING");
		gateways = Gateways.start(Gateway.on(redis).modes().instances(2), Callers.tenants(Outage.TENANTS));
	}

	@AfterAll
	static void stop() {
		gateways.close();
		redis.close();
	}

	private abstract static class OfRedis extends Outage {

		OfRedis(String name, Duration time) {
			super(name, time);
		}

		@Override
		Gateways gateways() {
			return gateways;
		}

	}

	@Nested
	class Killed extends OfRedis {

		Killed() {
			super("kill -9, restart", Duration.ZERO);
		}

		@Override
		void inject(Duration time) {
			redis.kill();
		}

		@Override
		void repair() {
			redis.restart();
		}

	}

	/**
	 * Long enough for connections to be given up and made anew, which the kernel does.
	 */
	@Nested
	class Stopped extends OfRedis {

		Stopped() {
			super("SIGSTOP, SIGCONT", Duration.ofSeconds(4));
		}

		@Override
		void inject(Duration time) {
			redis.freeze();
		}

		@Override
		void repair() {
			redis.thaw();
		}

	}

	/**
	 * Shorter than connections are given up: all that was sent is answered in the end.
	 */
	@Nested
	class Paused extends OfRedis {

		Paused() {
			super("CLIENT PAUSE", Duration.ZERO);
		}

		@Override
		void inject(Duration time) {
			redis.cli("CLIENT", "PAUSE", String.valueOf(time.plusMillis(100).toMillis()), "ALL");
		}

		/** Nothing but time ends a pause, also not for this. */
		@Override
		void repair() {
			redis.cli("PING");
		}

	}

}
