package dev.ratelimit.store.sql;

import org.junit.jupiter.api.AfterEach;

import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.PolicyStoreContract;
import dev.ratelimit.testing.PostgresServer;

class SqlPolicyStoreIntegrationTests extends PolicyStoreContract {

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

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
