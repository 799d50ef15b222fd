package dev.ratelimit.store.sql;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;

import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.PolicyStoreContract;
import dev.ratelimit.testing.PostgresServer;

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

	@Override
	protected PolicyStore open() {
		return this.stores.openAtMost(3);
	}

	@Override
	protected void cutSubscriptions() {
		this.stores.cutSubscriptions();
	}

}
