package dev.ratelimit.benchmarks.gateway;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import dev.ratelimit.benchmarks.common.Goal;

/**
 * The routes of the gateway, see gateway.yml. Limits are out of reach; callers differ by
 * address and API key.
 */
enum Route {

	PLAIN(10_000, "no filter", Goal.reported("plain")),

	STRICT(10_000, "one limit, strict", Goal.atMost("strict", 0.30, 0.20)),

	COMPOSITE(10_000, "three limits of two quotas, strict", Goal.atMost("composite", 0.40, 0.25)),

	/** Runs differ too much in their cost: judged by {@link Profile}. */
	LEASED(20, "one limit, leased", Goal.reported("leased")),

	STANDIN(10_000, "distributedRateLimiter", Goal.atMost("standin", 0.35, 0.20)),

	BUILTIN(10_000, "the gateway's own limiter", Goal.reported("builtin"));

	/** Share of the samples of the gateway's processor time under frames of ours. */
	static final Goal LEASED_SAMPLES = Goal.atMost("leased-samples", 0.06, 0.03);

	private final int callers;

	private final String text;

	private final Goal goal;

	Route(int callers, String text, Goal goal) {
		this.callers = callers;
		this.text = text;
		this.goal = goal;
	}

	/** How many callers there are. */
	int callers() {
		return this.callers;
	}

	String text() {
		return this.text;
	}

	/** For the cost of the filter. */
	Goal goal() {
		return this.goal;
	}

	/**
	 * How many profiles are taken: of filters of this project one, and enough for an
	 * interval if they are judged by it.
	 */
	int profiles() {
		return switch (this) {
			case PLAIN, BUILTIN -> 0;
			case LEASED -> 6;
			case STRICT, COMPOSITE, STANDIN -> 1;
		};
	}

	String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	String path() {
		return "/" + id();
	}

	/** The plain route and those that are named, or all if none is. */
	static List<Route> select(List<String> ids) {
		ids.forEach(Route::parse);
		return Arrays.stream(values())
			.filter((route) -> route == PLAIN || ids.isEmpty() || ids.contains(route.id()))
			.toList();
	}

	private static Route parse(String id) {
		return Arrays.stream(values())
			.filter((route) -> route.id().equals(id))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("no route '" + id + "'"));
	}

}
