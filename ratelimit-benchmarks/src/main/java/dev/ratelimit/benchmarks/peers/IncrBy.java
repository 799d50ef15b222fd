package dev.ratelimit.benchmarks.peers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * One INCRBY per check on a bare connection. It limits nothing; it is the least that
 * counting costs Redis, without a script and without an expiry.
 */
final class IncrBy implements Contender {

	private final RedisClient client;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final RedisAsyncCommands<byte[], byte[]> commands;

	private final byte[][] keys;

	IncrBy(RedisURI uri, Keys keys) {
		this.client = BareClient.to(uri);
		this.connection = this.client.connect(ByteArrayCodec.INSTANCE);
		this.commands = this.connection.async();
		this.keys = Arrays.stream(keys.names("incrby:user-"))
			.map((name) -> name.getBytes(StandardCharsets.ISO_8859_1))
			.toArray(byte[][]::new);
	}

	@Override
	public void check(int key, Answer answer) {
		this.commands.incrby(this.keys[key], 1)
			.whenComplete((count, failure) -> answer.complete((failure != null) ? Outcome.FAILED : Outcome.ALLOWED));
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
