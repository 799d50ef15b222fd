package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.FleetSumsContract;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

class SqlFleetSumsIntegrationTests extends FleetSumsContract {

	private static final String COUNT = "SELECT count(*) FROM ratelimit_sum WHERE name LIKE 'over%'";

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

	private final Database database = new Database(this.stores.factory(PostgresServer.USER), 4);

	private final AtomicLong nanoTime = new AtomicLong();

	private final SqlFleetSums sums = new SqlFleetSums(new Schema(this.database), this.nanoTime::get);

	/**
	 * Calls fail while the tables are being made, which is not what is looked at here.
	 */
	@BeforeEach
	void makeTables() {
		SqlPolicyStore first = this.stores.open();
		Awaitility.await().ignoreExceptions().until(() -> first.changesSince(0, 1).toCompletableFuture().get() != null);
	}

	@AfterEach
	void closeAll() {
		this.database.close();
		this.stores.close();
	}

	@Override
	protected PolicyStore open() {
		return this.stores.open();
	}

	@Override
	protected void age(Duration time) {
		this.stores.execute("UPDATE ratelimit_sum SET added_at = added_at - INTERVAL '" + time.toSeconds() + " s'");
	}

	@Test
	void rowsThatAreOverAreRemovedAndOthersAreNot() {
		addRows("over", 3, 25);
		addRows("fresh", 3, 23);
		addOne();
		Awaitility.await().until(() -> this.stores.query(COUNT).contains("0"));
		assertThat(this.stores.query("SELECT name FROM ratelimit_sum ORDER BY name, place")).containsExactly("fresh1",
				"fresh2", "fresh3", "orders:3");
	}

	@Test
	void someAreRemovedAtATimeAndTheOthersLater() {
		addRows("over", ExpiredRows.MAX_REMOVED + 1, 25);
		addOne();
		Awaitility.await().until(() -> this.stores.query(COUNT).contains("1"));
		addOne();
		addRows("over-too", 1, 25);
		this.nanoTime.addAndGet(Duration.ofMinutes(10).toNanos() - 1);
		addOne();
		assertThat(this.stores.query(COUNT)).containsExactly("2");
		this.nanoTime.addAndGet(1);
		addOne();
		Awaitility.await().until(() -> this.stores.query(COUNT).contains("0"));
	}

	@Test
	void zerosChangeNoRow() {
		add(open(), "orders:3", 0, 7, 0);
		assertThat(this.stores.query("SELECT place::text FROM ratelimit_sum")).containsExactly("2");
		List<String> before = this.stores.query("SELECT xmin::text FROM ratelimit_sum");
		assertThat(add(open(), "orders:3", 0, 0, 0)).containsExactly(0L, 7L, 0L);
		assertThat(this.stores.query("SELECT xmin::text FROM ratelimit_sum")).isEqualTo(before);
	}

	private void addOne() {
		this.sums.add("orders:3", List.of(1L)).toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
	}

	private void addRows(String name, int count, int hours) {
		this.stores
			.execute("INSERT INTO ratelimit_sum (name, place, total, added_at) SELECT '" + name + "' || i, 1, 7, "
					+ "now() - INTERVAL '" + hours + " hours' FROM generate_series(1, " + count + ") AS i");
	}

}
