package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Resharding;
import dev.ratelimit.testing.Stages;

import static dev.ratelimit.testing.Stages.join;
import static dev.ratelimit.redis.RedisCountersIntegrationTests.counter;
import static dev.ratelimit.redis.RedisCountersIntegrationTests.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * How nodes of a cluster are named, and how calls reach them.
 */
@ExtendWith(RedisServers.class)
class ClusterLinkIntegrationTests {

	private final AtomicInteger flushes = new AtomicInteger();

	private final ClientResources own = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {

		@Override
		public void afterChannelInitialized(Channel channel) {
			channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {

				@Override
				public void flush(ChannelHandlerContext context) {
					ClusterLinkIntegrationTests.this.flushes.incrementAndGet();
					context.flush();
				}

			});
		}

	}).build();

	private final ClientResources resources = ClientSettings.resources(this.own);

	private final RedisClusterClient client = RedisClusterClient.create(this.resources, RedisServers.cluster().uris());

	private final StatefulRedisClusterConnection<byte[], byte[]> connection = connect();

	@AfterEach
	void close() {
		this.client.shutdown();
		this.resources.shutdown();
		this.own.shutdown();
	}

	@Test
	void nodeThatComesBackWithAnotherAddressHasAnotherName() {
		ClusterLink link = new ClusterLink(this.connection);
		Counter counter = counter(Algorithm.GCRA, "ann", "5/m");
		String before = link.node(counter);
		Partitions partitions = this.connection.getPartitions();
		List<RedisClusterNode> moved = new ArrayList<>();
		for (RedisClusterNode node : partitions) {
			RedisClusterNode next = new RedisClusterNode(node);
			if (ClusterLink.name(node.getUri()).equals(before)) {
				next.setUri(RedisURI.create("203.0.113.7", 7001));
			}
			moved.add(next);
		}
		partitions.reload(moved);
		assertThat(link.node(counter)).isEqualTo("203.0.113.7:7001");
	}

	@Test
	void nodeThatStaysKeepsTheSameNameObject() {
		ClusterLink link = new ClusterLink(this.connection);
		Counter counter = counter(Algorithm.GCRA, "ann", "5/m");
		String before = link.node(counter);
		Partitions partitions = this.connection.getPartitions();
		partitions.reload(partitions.stream().map(RedisClusterNode::new).toList());
		assertThat(link.node(counter)).isSameAs(before);
	}

	@Test
	void callsForSlotsOfOneNodeLeaveInOneWrite() {
		Calls calls = calls();
		List<Counter> counters = counters(20);
		counters.forEach((counter) -> join(calls.send(call(counter))));
		int before = this.flushes.get();
		List<CompletionStage<List<ScriptCall.Outcome>>> answers = calls
			.send(counters.stream().map(ClusterLinkIntegrationTests::call).toList());
		assertThat(answers).hasSize(20).allSatisfy((answer) -> assertThat(join(answer).get(0).taken()).isOne());
		assertThat(this.flushes.get() - before).isOne();
	}

	@Test
	void callsThatLeaveTogetherUseTheConnectionOfSingleCalls(RedisCluster cluster) {
		Calls calls = calls();
		List<Counter> counters = counters(5);
		counters.forEach((counter) -> join(calls.send(call(counter))));
		RedisServer node = cluster.primaryOf(counters.get(0).key());
		long before = node.cli("CLIENT", "LIST").lines().count();
		calls.send(counters.stream().map(ClusterLinkIntegrationTests::call).toList()).forEach(Stages::join);
		assertThat(node.cli("CLIENT", "LIST").lines().count()).isEqualTo(before);
	}

	@Test
	void callThatLeavesWithOthersFollowsAMovedSlot(RedisCluster cluster) {
		Calls calls = calls();
		List<Counter> counters = counters(4);
		counters.forEach((counter) -> join(calls.send(call(counter))));
		Counter first = counters.get(0);
		Resharding move = cluster.reshard(first.key(), otherThan(cluster, first)).begin();
		move.moveAll();
		assertRemaining(calls, counters, 98);
		move.finish();
		assertRemaining(calls, counters, 97);
	}

	@Test
	void callsThatLeaveTogetherTeachTheNodeAScriptThatItHasForgotten(RedisCluster cluster) {
		Calls calls = calls();
		List<Counter> counters = counters(4);
		counters.forEach((counter) -> join(calls.send(call(counter))));
		cluster.primaryOf(counters.get(0).key()).cli("SCRIPT", "FLUSH");
		assertRemaining(calls, counters, 98);
	}

	@Test
	void callsThatLeaveTogetherBeforeThereIsAConnectionAreAnswered() {
		assertRemaining(calls(), counters(4), 99);
	}

	/** Takes one permit of each counter by calls that leave together. */
	private static void assertRemaining(Calls calls, List<Counter> counters, long remaining) {
		assertThat(calls.send(counters.stream().map(ClusterLinkIntegrationTests::call).toList()))
			.allSatisfy((answer) -> {
				Reading reading = join(answer).get(0).readings().get(0);
				assertThat(reading.available()).isEqualTo(remaining);
			});
	}

	private Calls calls() {
		ClusterLink link = new ClusterLink(this.connection);
		return new Calls(() -> link, null);
	}

	/** Counters of one node, each on a slot of its own. */
	private List<Counter> counters(int count) {
		ClusterLink link = new ClusterLink(this.connection);
		String node = link.node(counter(Algorithm.GCRA, "user-0", "100/d"));
		return IntStream.range(0, 500)
			.mapToObj((i) -> counter(Algorithm.GCRA, "user-" + i, "100/d"))
			.filter((counter) -> link.node(counter).equals(node))
			.limit(count)
			.toList();
	}

	private static ScriptCall call(Counter counter) {
		return new ScriptCall(List.of(request(1, counter)));
	}

	private StatefulRedisClusterConnection<byte[], byte[]> connect() {
		this.client.setOptions(ClusterClientOptions.builder(ClusterClientOptions.create())
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.build());
		return this.client.connect(ByteArrayCodec.INSTANCE);
	}

	private static RedisServer otherThan(RedisCluster cluster, Counter counter) {
		RedisServer owner = cluster.primaryOf(counter.key());
		return cluster.primaries().stream().filter((server) -> server != owner).findFirst().orElseThrow();
	}

}
