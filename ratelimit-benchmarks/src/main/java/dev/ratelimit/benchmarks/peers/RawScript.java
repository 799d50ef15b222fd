package dev.ratelimit.benchmarks.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * One EVALSHA per check on a bare connection: no deadline, no breaker, one limit of one
 * quota, and what is usually taken for the best possible.
 */
final class RawScript implements Contender {

	private final RedisClient client;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final RedisAsyncCommands<byte[], byte[]> commands;

	private final String sha;

	private final byte[][][] keys;

	private final byte[] interval;

	private final byte[] burst;

	RawScript(RedisURI uri, Keys keys) {
		this.client = BareClient.to(uri);
		this.connection = this.client.connect(ByteArrayCodec.INSTANCE);
		this.commands = this.connection.async();
		this.sha = this.connection.sync().scriptLoad(text());
		this.keys = Arrays.stream(keys.names("raw:user-"))
			.map((name) -> new byte[][] { bytes(name) })
			.toArray(byte[][][]::new);
		this.interval = bytes(switch (keys) {
			case EXISTING -> "60000000";
			case LAPSED -> "1000";
			case HUNDRED, HOT -> "960";
		});
		this.burst = bytes((keys == Keys.LAPSED) ? "1000000" : "86400000000");
	}

	private static byte[] text() {
		try (InputStream in = Objects.requireNonNull(RawScript.class.getResourceAsStream("raw-gcra.lua"))) {
			return in.readAllBytes();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	@Override
	public void check(int key, Answer answer) {
		this.commands.<List<Long>>evalsha(this.sha, ScriptOutputType.MULTI, this.keys[key], this.interval, this.burst)
			.whenComplete((reply, failure) -> answer
				.complete((failure != null) ? Outcome.FAILED : Outcome.of(reply.get(0) == 1)));
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
