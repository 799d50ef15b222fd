package dev.ratelimit.guard;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;

/**
 * The nodes that keep counters, each with a breaker of its own: one that is slow or gone
 * must not cost the others anything.
 */
public final class Nodes {

	/** More than this waiting for one node would not be answered in time anyway. */
	private static final int MAX_WAITING = 10_000;

	private static final String PREFIX = "ratelimit-";

	private static final boolean LOCK_FREE = Arrays.stream(CircuitBreakerConfig.class.getDeclaredClasses())
		.anyMatch((type) -> type.getSimpleName().equals("SlidingWindowSynchronizationStrategy"));

	private final Map<String, Node> nodes = new ConcurrentHashMap<>();

	private final CircuitBreakerRegistry registry;

	private final CircuitBreakerConfig config;

	private final NodeListener listener;

	/**
	 * Knows no node yet; each is met with its first check.
	 * @param options when a node is given up
	 * @param registry where the breakers can be seen
	 * @param listeners see how the nodes fare
	 */
	public Nodes(BreakerOptions options, CircuitBreakerRegistry registry, List<NodeListener> listeners) {
		this.registry = registry;
		this.listener = new NodeListeners(listeners);
		long openFor = options.openFor().toMillis();
		CircuitBreakerConfig.Builder config = CircuitBreakerConfig.custom()
			.failureRateThreshold(options.failureRate())
			.slidingWindowType(SlidingWindowType.TIME_BASED)
			.slidingWindowSize((int) options.window().toSeconds())
			.minimumNumberOfCalls(options.minimumCalls())
			.waitIntervalFunctionInOpenState(
					(attempt) -> openFor + ThreadLocalRandom.current().nextLong(openFor / 5 + 1))
			.permittedNumberOfCallsInHalfOpenState(1)
			.writableStackTraceEnabled(false);
		if (LOCK_FREE) {
			LockFreeWindow.use(config);
		}
		this.config = config.build();
	}

	Node get(String name) {
		Node node = this.nodes.get(name);
		return (node != null) ? node : this.nodes.computeIfAbsent(name, this::meet);
	}

	/**
	 * There is a new connection to a node: if its breaker is open, the next check tries.
	 */
	public void reconnected(String name) {
		Node node = this.nodes.get(name);
		if (node != null) {
			node.reconnected();
		}
	}

	/**
	 * Forgets all nodes but these.
	 */
	public void retain(Collection<String> names) {
		for (String name : this.nodes.keySet()) {
			if (!names.contains(name) && this.nodes.remove(name) != null) {
				this.registry.remove(PREFIX + name);
				this.listener.left(name);
			}
		}
	}

	/**
	 * The state of each node's breaker, by the node's name.
	 */
	public Map<String, BreakerState> states() {
		Map<String, BreakerState> states = new TreeMap<>();
		this.nodes.forEach((name, node) -> states.put(name, node.state()));
		return states;
	}

	private Node meet(String name) {
		return new Node(name, this.registry.circuitBreaker(PREFIX + name, this.config), MAX_WAITING, this.listener);
	}

}
