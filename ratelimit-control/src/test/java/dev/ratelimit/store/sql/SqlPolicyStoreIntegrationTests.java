package dev.ratelimit.store.sql;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.PolicyStoreContract;
import dev.ratelimit.testing.PostgresServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

class SqlPolicyStoreIntegrationTests extends PolicyStoreContract {

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

	/**
	 * Calls fail while the tables are being made, which is not what is looked at here.
	 */
	SqlPolicyStoreIntegrationTests() {
		SqlPolicyStore first = this.stores.open();
		Awaitility.await().ignoreExceptions().until(() -> first.changesSince(0, 1).toCompletableFuture().get() != null);
	}

	@AfterEach
	void closeStores() {
		this.stores.close();
	}

	@Test
	void rowsOfLeadersThatEndedAnHourAgoAreRemoved() {
		this.stores.execute("INSERT INTO ratelimit_leader (task, owner, expires_at) VALUES "
				+ "('old', 'a', now() - INTERVAL '61 minutes'), ('recent', 'a', now() - INTERVAL '59 minutes')");
		join(open().lead("current", "a", Duration.ofMinutes(1)));
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.stores.query("SELECT task FROM ratelimit_leader ORDER BY task"))
				.containsExactly("current", "recent"));
	}

	@Override
	protected PolicyStore open() {
		return this.stores.openAtMost(3);
	}

	@Override
	protected void cutSubscriptions() {
		this.stores.cutSubscriptions();
	}

}
