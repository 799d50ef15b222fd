package dev.ratelimit.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loads a script that a node has forgotten, once however many calls found that out.
 */
final class ScriptLoads {

	private final Map<Load, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

	/**
	 * Completes when the node that keeps the key has the script, or could not get it.
	 */
	CompletableFuture<Void> load(LuaScript script, String key, Link link) {
		Load load = new Load(script, link.node(key));
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<Void> other = this.underWay.putIfAbsent(load, mine);
		if (other != null) {
			return other;
		}
		start(script, key, link).whenComplete((done, failure) -> {
			this.underWay.remove(load);
			mine.complete(null);
		});
		return mine;
	}

	private static CompletionStage<Void> start(LuaScript script, String key, Link link) {
		try {
			return link.load(script, key);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private record Load(LuaScript script, String node) {
	}

}
