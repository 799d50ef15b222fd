package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.caller.Salt;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The salt that instances share when nobody has chosen one.
 */
@ExtendWith(RedisServers.class)
class RedisSaltIntegrationTests {

	private static final String KEY = "rl:{fleet}:salt";

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	@Test
	void firstInstanceLeavesItsOwnAndTheOthersTakeIt(RedisServer redis) {
		Salt first = Salt.random();
		Salt second = Salt.random();
		String text = first.text();
		start(connected(redis), first);
		start(connected(redis), second);
		assertThat(List.of(first.text(), second.text(), redis.cli("GET", KEY))).containsOnly(text);
		assertThat(redis.cli("PTTL", KEY)).isEqualTo("-1");
	}

	@Test
	void itIsTheSameAfterARestartOfAllInstances(RedisServer redis) {
		Salt before = Salt.random();
		start(connected(redis), before).close();
		Salt after = Salt.random();
		start(connected(redis), after);
		assertThat(after.text()).isEqualTo(before.text());
	}

	@Test
	void whatRedisLosesIsWrittenAgain(RedisServer redis) {
		Salt salt = Salt.random();
		start(connected(redis), salt);
		redis.flush();
		await().atMost(Duration.ofSeconds(5)).until(() -> redis.cli("GET", KEY).equals(salt.text()));
	}

	@Test
	void instancesThatDisagreeTakeWhatRedisHas(RedisServer redis) {
		Salt salt = Salt.random();
		start(connected(redis), salt);
		redis.cli("SET", KEY, "chosen by another");
		await().atMost(Duration.ofSeconds(5)).until(() -> salt.text().equals("chosen by another"));
	}

	@Test
	void foreignValueInItsPlaceLeavesEachInstanceItsOwn(RedisServer redis) {
		redis.cli("RPUSH", KEY, "x");
		Salt salt = Salt.random();
		String own = salt.text();
		start(connected(redis), salt);
		assertThat(salt.text()).isEqualTo(own);
		redis.cli("DEL", KEY);
		await().atMost(Duration.ofSeconds(5)).until(() -> redis.cli("GET", KEY).equals(own));
	}

	@Test
	void instanceThatStartsWithoutRedisUsesItsOwnUntilItComes() {
		try (RedisServer redis = RedisServer.start()) {
			redis.kill();
			Salt salt = Salt.random();
			String own = salt.text();
			start(connector(redis), salt);
			assertThat(salt.text()).isEqualTo(own);
			redis.restart();
			redis.cli("SETNX", KEY, "of the others");
			await().atMost(Duration.ofSeconds(10)).until(() -> salt.text().equals(redis.cli("GET", KEY)));
		}
	}

	@Test
	void instancesOnAClusterShareItToo(RedisCluster cluster) {
		Salt first = Salt.random();
		Salt second = Salt.random();
		String text = first.text();
		start(clusterConnector(), first);
		start(clusterConnector(), second);
		assertThat(List.of(first.text(), second.text(), cluster.primaryOf(KEY).cli("GET", KEY))).containsOnly(text);
	}

	private RedisSalt start(RedisConnector connector, Salt salt) {
		RedisSalt shared = new RedisSalt(RedisSender.on(connector), "rl", salt, Duration.ofMillis(100));
		this.opened.add(shared);
		shared.start();
		return shared;
	}

	private RedisConnector clusterConnector() {
		RedisConnector connector = Connections.clusterConnector();
		this.opened.add(connector);
		assertThat(connector.start(Duration.ofSeconds(10))).isTrue();
		return connector;
	}

	private RedisConnector connected(RedisServer redis) {
		RedisConnector connector = connector(redis);
		await().atMost(Duration.ofSeconds(10)).until(() -> connector.commands() != null);
		return connector;
	}

	private RedisConnector connector(RedisServer redis) {
		RedisClient client = RedisClient.create(redis.uri());
		client.setOptions(ClientSettings.options(ClientOptions.create()));
		this.opened.add(client::shutdown);
		RedisConnector connector = RedisConnector.to(client, "redis");
		this.opened.add(connector);
		connector.start(Duration.ofSeconds(2));
		return connector;
	}

}
