package dev.ratelimit.autoconfigure;

import org.junit.jupiter.api.AfterEach;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.testing.PostgresServer;

/**
 * Policies in PostgreSQL, with counters in memory.
 */
class SqlControlPlaneFaultsIntegrationTests extends ControlPlaneFaultsContract {

	private final PostgresServer server = PostgresServer.start();

	private final String database = this.server.newDatabase();

	@AfterEach
	void end() {
		this.server.close();
	}

	@Override
	ApplicationContextRunner application() {
		return SqlControlPlaneIntegrationTests.on(this.server, this.database);
	}

	@Override
	void kill() {
		this.server.kill();
	}

	@Override
	void restart() {
		this.server.restart();
	}

	@Override
	void freeze() {
		this.server.freeze();
	}

	@Override
	void thaw() {
		this.server.thaw();
	}

}
