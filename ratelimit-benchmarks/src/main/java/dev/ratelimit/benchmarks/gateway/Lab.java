package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;

/**
 * Gateway, upstream, load and Redis, on which the routes take turns.
 */
final class Lab implements AutoCloseable {

	private final MeasuredRedis redis;

	private final List<Route> routes;

	private final Upstream upstream;

	private final GatewayProcess gateway;

	private final HttpLoad load;

	/** The same orders in every run. */
	private final Random random = new Random(1);

	/**
	 * Starts upstream and gateway.
	 * @param redis for the limiters
	 * @param routes that take turns
	 * @param connections of the load
	 * @param deadline of a check of ours
	 */
	Lab(MeasuredRedis redis, List<Route> routes, int connections, Duration deadline) throws IOException {
		this.redis = redis;
		this.routes = routes;
		this.upstream = Upstream.start();
		try {
			this.gateway = new GatewayProcess(redis.uri(), this.upstream.port(), deadline);
		}
		catch (IOException | RuntimeException ex) {
			this.upstream.close();
			throw ex;
		}
		this.load = HttpLoad.to(this.gateway.port(), connections);
	}

	/**
	 * One turn of every route, in another order each time: what a route leaves behind,
	 * such as keys that expire, would otherwise always be charged to the same neighbour.
	 */
	Map<Route, Turn> turn(Duration each) {
		List<Route> order = new ArrayList<>(this.routes);
		Collections.shuffle(order, this.random);
		Map<Route, Turn> results = new EnumMap<>(Route.class);
		order.forEach((route) -> results.put(route, measure(route, each)));
		return results;
	}

	private Turn measure(Route route, Duration duration) {
		double redisBefore = this.redis.cpuSeconds();
		double gatewayBefore = this.gateway.cpuSeconds();
		double otherBefore = otherSeconds();
		HttpLoad.Result result = this.load.run(route, duration);
		double requests = Math.max(1, result.requests());
		return new Turn(route.id(), result.requests() / result.seconds(), result.p50Micros(), result.p99Micros(),
				(this.gateway.cpuSeconds() - gatewayBefore) * 1e6 / requests,
				(this.redis.cpuSeconds() - redisBefore) * 1e6 / requests,
				(otherSeconds() - otherBefore) * 1e6 / requests, result.failedShare());
	}

	/** Processor time of load and upstream, whether in this JVM or not. */
	private double otherSeconds() {
		return Machine.now().ownSeconds() + Machine.endedChildrenSeconds() + this.upstream.cpuSeconds();
	}

	/**
	 * Profiles of the gateway under each route with a filter of ours, several of a route
	 * that is judged by them. What was measured before is not lost if the profiler may
	 * not attach.
	 * @param stacks folder in which the stacks are kept, or {@code null}
	 */
	Map<Route, List<Profile>> profiles(Duration each, @Nullable Path stacks) {
		Map<Route, List<Profile>> profiles = new EnumMap<>(Route.class);
		if (!Profiler.supported()) {
			System.err.println("not profiled: async-profiler does not support this machine");
			return profiles;
		}
		try (Profiler profiler = new Profiler(stacks)) {
			for (Route route : this.routes) {
				for (int number = 1; number <= route.profiles(); number++) {
					System.err.printf("profile %d of %d of %s%n", number, route.profiles(), route.id());
					profiles.computeIfAbsent(route, (key) -> new ArrayList<>())
						.add(profiler.run(this.gateway, this.load, route, number, each));
				}
			}
		}
		catch (IOException | IllegalStateException ex) {
			System.err.println("not profiled: " + ex.getMessage());
		}
		return profiles;
	}

	/** What takes part, for the output. */
	List<String> parts() {
		return List.of(this.redis.toString(), this.upstream.toString(), this.load.toString());
	}

	@Override
	public void close() {
		this.load.close();
		this.gateway.close();
		this.upstream.close();
	}

}
