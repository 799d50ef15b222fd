package dev.ratelimit.app.fault;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.netty.handler.codec.http.HttpHeaders;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;

/**
 * Tenants of which half have their counters on one shard of a cluster and half on the
 * others. Until the case begins others call, so that limits are not used up by then.
 */
final class ShardTenants implements Callers {

	/** So many of each half. */
	static final int EACH = 2;

	static final String ADDRESS = "10.0.0.1";

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "1/s");

	private final List<String> here;

	private final List<String> elsewhere;

	private volatile List<String> calling;

	private ShardTenants(List<String> here, List<String> elsewhere) {
		this.here = here;
		this.elsewhere = elsewhere;
		this.calling = both(0);
	}

	static ShardTenants of(RedisCluster cluster) {
		RedisServer sick = cluster.primaryOf(key(name(0)));
		return new ShardTenants(tenants((tenant) -> cluster.primaryOf(key(tenant)) == sick),
				tenants((tenant) -> cluster.primaryOf(key(tenant)) != sick));
	}

	/** What names a tenant's counter; the slot follows from the tenant alone. */
	static String key(String tenant) {
		return new CounterKeys("rl").key("fault", Algorithm.GCRA, PER_TENANT, List.of(tenant));
	}

	/** From now on those call that have not called yet. */
	void begin() {
		this.calling = both(EACH);
	}

	/** Those on the shard that something happens to. */
	List<String> here() {
		return this.here.subList(EACH, 2 * EACH);
	}

	List<String> elsewhere() {
		return this.elsewhere.subList(EACH, 2 * EACH);
	}

	List<String> all() {
		return both(EACH);
	}

	@Override
	public void identify(long number, HttpHeaders headers) {
		List<String> tenants = this.calling;
		headers.set("X-API-Key", tenants.get((int) (number % tenants.size())));
		headers.set("X-Forwarded-For", ADDRESS);
	}

	private List<String> both(int from) {
		return Stream.of(this.here, this.elsewhere)
			.flatMap((half) -> half.subList(from, from + EACH).stream())
			.toList();
	}

	private static List<String> tenants(Predicate<String> shard) {
		return IntStream.iterate(0, (i) -> i + 1).mapToObj(ShardTenants::name).filter(shard).limit(2 * EACH).toList();
	}

	private static String name(int number) {
		return "tenant-" + number;
	}

}
