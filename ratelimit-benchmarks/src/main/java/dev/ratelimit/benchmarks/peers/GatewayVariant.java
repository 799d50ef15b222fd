package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.lettuce.core.RedisURI;

/**
 * What the one route of a gateway has. Limits are out of reach, callers are told apart by
 * address.
 */
enum GatewayVariant {

	NONE("no-filter", "ratelimit.enabled=false"),

	STRICT("ours-strict", ours("strict")),

	LEASED("ours-leased", ours("leased")),

	STOCK("scg", "ratelimit.enabled=false", "%s.filters[0].name=RequestRateLimiter",
			"%s.filters[0].args[redis-rate-limiter.replenishRate]=1000000",
			"%s.filters[0].args[redis-rate-limiter.burstCapacity]=1000000");

	private static final String ROUTE = "spring.cloud.gateway.server.webflux.routes[0]";

	private final String id;

	private final List<String> properties;

	GatewayVariant(String id, String... properties) {
		this.id = id;
		this.properties = List.of(properties);
	}

	private static String[] ours(String enforcement) {
		return new String[] { "%s.filters[0]=RateLimit=gateway", "ratelimit.identity.trusted-hops=1",
				"ratelimit.policies.gateway.enforcement=" + enforcement,
				"ratelimit.policies.gateway.limits.per-ip.by=ip",
				"ratelimit.policies.gateway.limits.per-ip.quota=90000000/d" };
	}

	List<String> arguments(RedisURI redis, int upstream, Duration deadline) {
		List<String> all = new ArrayList<>(List.of("server.port=0", "spring.main.banner-mode=off",
				"logging.level.root=warn", "ratelimit.redis.timeout=" + deadline,
				"spring.data.redis.host=" + redis.getHost(), "spring.data.redis.port=" + redis.getPort(),
				ROUTE + ".id=route", ROUTE + ".uri=http://127.0.0.1:" + upstream, ROUTE + ".predicates[0]=Path=/**"));
		this.properties.forEach((property) -> all.add(property.replace("%s", ROUTE)));
		return all.stream().map("--"::concat).toList();
	}

	static GatewayVariant parse(String id) {
		return Arrays.stream(values())
			.filter((variant) -> variant.id.equals(id))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("no variant '" + id + "'"));
	}

	@Override
	public String toString() {
		return this.id;
	}

}
