package dev.ratelimit.autoconfigure;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.springframework.beans.factory.ObjectProvider;

import dev.ratelimit.guard.Nodes;

/**
 * The breakers as they are shown: the state of each by the name of its node, none where
 * counters are kept in memory.
 */
final class Breakers {

	private Breakers() {
	}

	static Supplier<Map<String, String>> of(ObjectProvider<Nodes> nodes) {
		return () -> {
			Map<String, String> breakers = new TreeMap<>();
			nodes.ifAvailable((present) -> present.states().forEach((node, state) -> breakers.put(node, state.text())));
			return breakers;
		};
	}

}
