package dev.ratelimit.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import dev.ratelimit.counter.Counter;

/**
 * Loads a script that a node has forgotten, once however many calls found that out.
 */
final class ScriptLoads {

	private final Map<Load, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

	/**
	 * Completes when the node that keeps the counter has the script, or could not get it.
	 */
	CompletableFuture<Void> load(LuaScript script, Counter counter, Link link) {
		Load load = new Load(script, link.node(counter));
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<Void> other = this.underWay.putIfAbsent(load, mine);
		if (other != null) {
			return other;
		}
		start(script, counter, link).whenComplete((done, failure) -> {
			this.underWay.remove(load);
			mine.complete(null);
		});
		return mine;
	}

	private static CompletionStage<Void> start(LuaScript script, Counter counter, Link link) {
		try {
			return link.load(script, counter);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private record Load(LuaScript script, String node) {
	}

}
