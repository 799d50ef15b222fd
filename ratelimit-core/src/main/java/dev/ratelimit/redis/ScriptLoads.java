package dev.ratelimit.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loads a script that Redis has forgotten, once however many calls found that out.
 */
final class ScriptLoads {

	private final Map<LuaScript, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

	/**
	 * Completes when the script was loaded, or could not be.
	 */
	CompletableFuture<Void> load(LuaScript script, Link link) {
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<Void> other = this.underWay.putIfAbsent(script, mine);
		if (other != null) {
			return other;
		}
		link.load(script).whenComplete((done, failure) -> {
			this.underWay.remove(script);
			mine.complete(null);
		});
		return mine;
	}

}
