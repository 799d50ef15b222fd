package dev.ratelimit.testing;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReshardingIntegrationTests {

	private static RedisCluster cluster;

	@BeforeAll
	static void start() {
		cluster = RedisCluster.start();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@BeforeEach
	void reset() {
		cluster.reset();
	}

	@Test
	void slotMovesWithItsKeys() {
		RedisServer from = cluster.primaryOf("{moved}");
		RedisServer to = anotherThan(from);
		from.cli("SET", "{moved}a", "1");
		from.cli("SET", "{moved}b", "2");
		cluster.reshard("{moved}", to).begin().moveAll().finish();
		assertThat(cluster.primaryOf("{moved}")).isSameAs(to);
		assertThat(to.cli("GET", "{moved}a")).isEqualTo("1");
		try (RedisClusterClient client = RedisClusterClient.create(cluster.uris());
				StatefulRedisClusterConnection<String, String> connection = client.connect()) {
			assertThat(connection.sync().get("{moved}b")).isEqualTo("2");
		}
	}

	@Test
	void halfMovedSlotAnswersTryAgainToAScriptOverBothHalves() {
		RedisServer from = cluster.primaryOf("{half}");
		from.cli("SET", "{half}a", "1");
		from.cli("SET", "{half}b", "2");
		Resharding resharding = cluster.reshard("{half}", anotherThan(from)).begin();
		assertThat(script(from)).isEqualTo("1\n2");
		assertThat(resharding.moveOneKey()).isTrue();
		assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> script(from))
			.withMessageStartingWith("TRYAGAIN");
		assertThat(resharding.moveOneKey()).isTrue();
		assertThat(resharding.moveOneKey()).isFalse();
		assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> script(from))
			.withMessageStartingWith("ASK");
		resharding.finish();
		assertThat(script(cluster.primaryOf("{half}"))).isEqualTo("1\n2");
	}

	@Test
	void replicaTakesOverWhenItsPrimaryIsKilled() {
		RedisServer primary = cluster.primaryOf("key");
		RedisServer replica = cluster.replicaOf("key");
		assertThat(replica).isNotSameAs(primary);
		primary.kill();
		cluster.awaitPrimaryOf("key", replica);
		assertThat(cluster.primaryOf("key")).isSameAs(replica);
	}

	@Test
	void callsOfACommandAreCounted() {
		RedisServer server = cluster.primaryOf("counted");
		long before = server.calls("set");
		server.cli("SET", "counted", "1");
		server.cli("SET", "counted", "2");
		assertThat(server.calls("set")).isEqualTo(before + 2);
		assertThat(server.calls("script|kill")).isZero();
	}

	private static String script(RedisServer server) {
		return server.cli("EVAL", "return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}", "2", "{half}a",
				"{half}b");
	}

	private static RedisServer anotherThan(RedisServer primary) {
		return cluster.primaries().stream().filter((server) -> server != primary).findFirst().orElseThrow();
	}

}
