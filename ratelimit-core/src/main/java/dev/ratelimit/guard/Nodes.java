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
 * The nodes that keep counters, each with its own breaker: a slow or dead node must not
 * affect the others.
 */
public final class Nodes {

	/** Largest number of checks that wait for one node: more would time out anyway. */
	private static final int MAX_WAITING = 10_000;

	private static final String PREFIX = "ratelimit-";

	private static final boolean LOCK_FREE = Arrays.stream(CircuitBreakerConfig.class.getDeclaredClasses())
		.anyMatch((type) -> type.getSimpleName().equals("SlidingWindowSynchronizationStrategy"));

	private final Map<String, Node> nodes = new ConcurrentHashMap<>();

	private final CircuitBreakerRegistry registry;

	private final CircuitBreakerConfig config;

	private final NodeListener listener;

	/**
	 * Creates an empty set; a node is added when it is known, or with its first check.
	 * @param options when a breaker opens
	 * @param registry where the breakers can be seen
	 * @param listeners observe the calls to nodes
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
	 * Adds nodes that checks will need, so that their breakers and meters exist before
	 * the first check.
	 */
	public void expect(Collection<String> names) {
		names.forEach(this::get);
	}

	/**
	 * Reports a new connection to a node: if its breaker is open, the next check tries
	 * the node.
	 */
	public void reconnected(String name) {
		Node node = this.nodes.get(name);
		if (node != null) {
			node.reconnected();
		}
	}

	/**
	 * Reports which nodes keep counters now. The outage of any other node is over: no
	 * check goes there, so its breaker would stay open for ever.
	 */
	public void keeping(Collection<String> names) {
		this.nodes.forEach((name, node) -> {
			if (!names.contains(name)) {
				node.relieved();
			}
		});
		expect(names);
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

	/**
	 * The states as they are shown to users.
	 */
	public Map<String, String> texts() {
		Map<String, String> texts = new TreeMap<>();
		states().forEach((name, state) -> texts.put(name, state.text()));
		return texts;
	}

	private Node meet(String name) {
		return new Node(name, this.registry.circuitBreaker(PREFIX + name, this.config), MAX_WAITING, this.listener);
	}

}
