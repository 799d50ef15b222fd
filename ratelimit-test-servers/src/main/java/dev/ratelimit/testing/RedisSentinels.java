package dev.ratelimit.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;

/**
 * A real primary with one replica and the three Sentinels that watch over them, which
 * fail over a few seconds after the primary is frozen or killed.
 */
public final class RedisSentinels implements AutoCloseable {

	private static final String MASTER_ID = "mymaster";

	private static final int SENTINELS = 3;

	private final List<RedisServer> data = new ArrayList<>();

	private final List<RedisServer> sentinels = new ArrayList<>();

	private RedisSentinels() {
	}

	public static RedisSentinels start() {
		RedisSentinels result = new RedisSentinels();
		try {
			result.startData();
			result.startSentinels();
			result.awaitStable();
			return result;
		}
		catch (RuntimeException ex) {
			result.close();
			throw ex;
		}
	}

	/** Names the Sentinels, not the primary, so that a client follows a failover. */
	public RedisURI uri() {
		RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(MASTER_ID);
		this.sentinels.forEach((sentinel) -> builder.withSentinel(sentinel.host(), sentinel.port()));
		return builder.build();
	}

	public String masterId() {
		return MASTER_ID;
	}

	/** The primary as the Sentinels see it now; it changes with a failover. */
	public RedisServer primary() {
		RedisServer sentinel = this.sentinels.stream()
			.filter(RedisServer::responsive)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No Sentinel can answer"));
		String address = sentinel.cli("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_ID);
		return this.data.stream()
			.filter((server) -> address.equals(server.host() + "\n" + server.port()))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("Sentinels name an unknown primary: " + address));
	}

	/** The one of the two data servers that is not the primary now. */
	public RedisServer replica() {
		return this.data.get(1 - this.data.indexOf(primary()));
	}

	public List<RedisServer> sentinels() {
		return List.copyOf(this.sentinels);
	}

	public void flush() {
		primary().flush();
	}

	@Override
	public void close() {
		servers().forEach(RedisServer::close);
	}

	/** Brings all servers back, waits until they agree, and empties them. */
	void reset() {
		// Not short-circuited: every server is to be revived.
		long disturbed = servers().filter(RedisServer::revive).count();
		if (disturbed > 0) {
			awaitStable();
		}
		flush();
	}

	private void startData() {
		this.data.add(RedisServer.start());
		this.data.add(RedisServer.start());
		replicate(this.data.get(1), this.data.get(0));
		// Sentinels look for replicas only every ten seconds; let the first look find it.
		ServerHome.await("replica to be linked").until(() -> isLinked(this.data.get(1)));
	}

	private void startSentinels() {
		for (int i = 0; i < SENTINELS; i++) {
			RedisServer sentinel = RedisServer.start("--sentinel");
			this.sentinels.add(sentinel);
			RedisServer primary = this.data.get(0);
			sentinel.cli("SENTINEL", "MONITOR", MASTER_ID, primary.host(), String.valueOf(primary.port()), "2");
			sentinel.cli("SENTINEL", "SET", MASTER_ID, "down-after-milliseconds", "1000", "failover-timeout", "3000");
		}
	}

	private void awaitStable() {
		ServerHome.await("Sentinels to agree").ignoreExceptions().until(() -> {
			RedisServer primary = primary();
			RedisServer replica = replica();
			// Sentinels wait for eight seconds before they do this to a returned primary.
			if (replica.cli("ROLE").startsWith("master")) {
				replicate(replica, primary);
			}
			return isLinked(replica) && this.sentinels.stream().allMatch((sentinel) -> isStable(sentinel, primary));
		});
	}

	private boolean isStable(RedisServer sentinel, RedisServer primary) {
		String state = sentinel.cli("SENTINEL", "MASTER", MASTER_ID);
		String replicas = sentinel.cli("SENTINEL", "REPLICAS", MASTER_ID);
		return state.contains("port\n" + primary.port() + "\n") && state.contains("flags\nmaster\n")
				&& state.contains("num-slaves\n1\n") && state.contains("num-other-sentinels\n" + (SENTINELS - 1) + "\n")
				&& replicas.contains("flags\nslave\n") && replicas.contains("master-link-status\nok\n");
	}

	private Stream<RedisServer> servers() {
		return Stream.concat(this.data.stream(), this.sentinels.stream());
	}

	private static boolean isLinked(RedisServer replica) {
		return replica.cli("INFO", "replication").contains("master_link_status:up");
	}

	private static void replicate(RedisServer replica, RedisServer primary) {
		replica.cli("REPLICAOF", primary.host(), String.valueOf(primary.port()));
		replica.cli("CONFIG", "REWRITE");
	}

}
