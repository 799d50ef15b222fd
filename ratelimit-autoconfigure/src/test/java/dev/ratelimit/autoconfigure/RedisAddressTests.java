package dev.ratelimit.autoconfigure;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class RedisAddressTests {

	@Test
	void addressOfAServerHasItsDatabase() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("one", 6379);
		server.setDatabase(3);
		assertThat(RedisAddress.of(new LettuceConnectionFactory(server)))
			.isEqualTo(new RedisAddress("one:6379", "one:6379/3"));
		assertThat(uri("redis://:secret@one:6379/3")).isEqualTo(new RedisAddress("one:6379", "one:6379/3"));
	}

	@Test
	void primariesOfTheSameNameBehindOtherSentinelsDiffer() {
		RedisAddress first = RedisAddress.of(new LettuceConnectionFactory(
				new RedisSentinelConfiguration().master("mymaster").sentinel("two", 26379).sentinel("one", 26379)));
		assertThat(first).isEqualTo(new RedisAddress("mymaster", "mymaster/0,one:26379,two:26379"));
		assertThat(RedisAddress.of(new LettuceConnectionFactory(
				new RedisSentinelConfiguration().master("mymaster").sentinel("three", 26379))))
			.isEqualTo(new RedisAddress("mymaster", "mymaster/0,three:26379"));
		assertThat(uri("redis-sentinel://two:26379,one:26379/0#mymaster")).isEqualTo(first);
		assertThat(uri("redis-sentinel://two:26379,one:26379/1#mymaster")).isNotEqualTo(first);
	}

	@Test
	void addressOfASocketIsItsPath() {
		assertThat(RedisAddress.of(new LettuceConnectionFactory(new RedisSocketConfiguration("/run/redis.sock"))))
			.isEqualTo(new RedisAddress("/run/redis.sock", "/run/redis.sock/0"));
		assertThat(uri("redis-socket:///run/redis.sock?database=2"))
			.isEqualTo(new RedisAddress("/run/redis.sock", "/run/redis.sock/2"));
	}

	@Test
	void addressOfAClusterIsThatOfItsNodesInAnyOrder() {
		assertThat(RedisAddress
			.of(new LettuceConnectionFactory(
					new RedisClusterConfiguration().clusterNode("two", 6379).clusterNode("one", 6379)))
			.text()).isEqualTo("one:6379,two:6379");
	}

	private static RedisAddress uri(String uri) {
		return RedisAddress.of(RedisURI.create(uri));
	}

}
