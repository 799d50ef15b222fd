package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication.AbandonedRunException;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore.OnUnavailable;
import dev.ratelimit.store.Replica;

/**
 * Waits for a store of which nothing is known, not even by a snapshot. Runs first of all
 * runners: the ports are open and liveness answers, but the application is not ready, and
 * no runner of the application works without its policies. Requests that come all the
 * same are decided by the configured policies.
 */
final class StoreStart implements ApplicationRunner, PriorityOrdered, SmartInitializingSingleton,
		ApplicationListener<ContextClosedEvent> {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final Duration REPORT_EVERY = Duration.ofSeconds(5);

	private final Replica replica;

	private final UnknownPolicies unknown;

	private final Runnable arrivals;

	private final Duration timeout;

	private final OnUnavailable onUnavailable;

	private volatile boolean closed;

	/**
	 * @param arrivals begins to check arriving versions: one that does not fit what names
	 * its policy is rejected. A version that arrived before fails the start instead
	 */
	StoreStart(Replica replica, UnknownPolicies unknown, PoliciesStore properties, Runnable arrivals) {
		this.replica = replica;
		this.unknown = unknown;
		this.arrivals = arrivals;
		this.timeout = properties.startTimeout();
		this.onUnavailable = properties.onUnavailable();
		if (this.timeout.isNegative()) {
			throw new InvalidPolicyException("'ratelimit.policies-store.start-timeout' is negative.",
					"Set it to 0s or more, for example 30s.");
		}
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.replica.state().missing()) {
			this.arrivals.run();
		}
	}

	@Override
	public void run(ApplicationArguments arguments) throws InterruptedException {
		while (this.replica.state().missing() && !this.closed && !this.replica.await(nextReport())) {
			if (left().isZero() && !this.closed) {
				goOnWithout();
				break;
			}
			logger.info(
					"Waiting for the policy store: {}. Not ready for {} s more, unless it goes on; requests are decided "
							+ "by the configured policies",
					progress(), left().toSeconds());
		}
		// The beans of the runners that follow are closed, too.
		if (this.closed) {
			logger.info("The application was closed before the policy store was read");
			throw new AbandonedRunException();
		}
		this.arrivals.run();
		// The store may have answered after the wait, too.
		this.unknown.checkAgain();
	}

	/** Comes before servers and beans are stopped, which may take a while. */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		this.closed = true;
	}

	private void goOnWithout() {
		String what = "The policy store could not be read: " + progress() + " within " + this.timeout.toSeconds()
				+ " s, and there is no snapshot file.";
		if (this.onUnavailable == OnUnavailable.FAIL) {
			throw new InvalidPolicyException(what,
					"Make the store available or raise 'ratelimit.policies-store.start-timeout'. To start with the "
							+ "configured policies alone, set 'ratelimit.policies-store.on-unavailable' to start.");
		}
		logger.error("{} This instance starts with the configured policies alone and follows the store as soon as it "
				+ "answers (ratelimit.policies-store.on-unavailable: start)", what);
	}

	private Duration nextReport() {
		Duration left = left();
		return (left.compareTo(REPORT_EVERY) < 0) ? left : REPORT_EVERY;
	}

	private Duration left() {
		Duration left = this.timeout.minus(this.replica.stalled());
		return left.isNegative() ? Duration.ZERO : left;
	}

	private String progress() {
		return (this.replica.state().lastContact() == null) ? "no answer"
				: "nothing new after revision " + this.replica.received();
	}

}
