package dev.ratelimit.guard;

import java.util.List;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;

/**
 * Calls several listeners and ignores their exceptions.
 */
final class NodeListeners implements NodeListener {

	private static final Logger logger = LoggerFactory.getLogger(NodeListeners.class);

	private final NodeListener[] listeners;

	NodeListeners(List<NodeListener> listeners) {
		this.listeners = listeners.toArray(NodeListener[]::new);
	}

	@Override
	public void answered(String node, long nanos, long skewMicros) {
		for (NodeListener listener : this.listeners) {
			try {
				listener.answered(node, nanos, skewMicros);
			}
			catch (Throwable ex) {
				ignored(node, ex);
			}
		}
	}

	@Override
	public void failed(String node, Decision.Reason reason) {
		callAll(node, (listener) -> listener.failed(node, reason));
	}

	@Override
	public void giveBackLost(String node) {
		callAll(node, (listener) -> listener.giveBackLost(node));
	}

	@Override
	public void changed(String node, BreakerState state) {
		callAll(node, (listener) -> listener.changed(node, state));
	}

	@Override
	public void left(String node) {
		callAll(node, (listener) -> listener.left(node));
	}

	private void callAll(String node, Consumer<NodeListener> news) {
		for (NodeListener listener : this.listeners) {
			try {
				news.accept(listener);
			}
			catch (Throwable ex) {
				ignored(node, ex);
			}
		}
	}

	private static void ignored(String node, Throwable failure) {
		logger.debug("A listener of node {} failed", node, failure);
	}

}
