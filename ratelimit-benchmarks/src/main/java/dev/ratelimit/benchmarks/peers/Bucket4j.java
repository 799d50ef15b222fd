package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * Bucket4j on Lettuce, with its proxies made ahead. Batching merges what waits for the
 * same key in this JVM.
 */
final class Bucket4j implements Contender {

	private final RedisClient client;

	private final StatefulRedisConnection<String, byte[]> connection;

	private final AsyncBucketProxy[] buckets;

	Bucket4j(RedisURI uri, Keys keys, boolean batching) {
		this.client = BareClient.to(uri);
		this.connection = this.client.connect(RedisCodec.of(StringCodec.ASCII, ByteArrayCodec.INSTANCE));
		AsyncProxyManager<String> manager = Bucket4jLettuce.casBasedBuilder(this.connection)
			.expirationAfterWrite(
					ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(1)))
			.build()
			.asAsync();
		CompletableFuture<BucketConfiguration> configuration = CompletableFuture.completedFuture(configuration(keys));
		Optimization optimization = batching ? Optimizations.batching() : Optimization.NONE_OPTIMIZED;
		this.buckets = Arrays.stream(keys.names("user-"))
			.map((name) -> manager.builder().withOptimization(optimization).build(name, () -> configuration))
			.toArray(AsyncBucketProxy[]::new);
	}

	private static BucketConfiguration configuration(Keys keys) {
		return BucketConfiguration.builder()
			.addLimit((limit) -> keys.busy() ? limit.capacity(90_000_000).refillGreedy(90_000_000, Duration.ofDays(1))
					: limit.capacity(1_440).refillGreedy(1_440, Duration.ofDays(1)))
			.build();
	}

	@Override
	public void check(int key, Answer answer) {
		this.buckets[key].tryConsume(1)
			.whenComplete(
					(allowed, failure) -> answer.complete((failure != null) ? Outcome.FAILED : Outcome.of(allowed)));
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
