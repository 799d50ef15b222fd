package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.redis.RedisPulse;
import dev.ratelimit.redis.RedisSignals;

/**
 * Lets the pulse beat and signals be heard from before the server takes requests until
 * after it has answered the last: so long is this one of the instances that share the
 * limits.
 */
final class PulseLifecycle implements SmartLifecycle, RedisPulse.Listener {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** How long a start waits to learn how many there are. */
	private static final Duration PATIENCE = Duration.ofMillis(500);

	private final RedisPulse pulse;

	private final RedisSignals signals;

	private final Fleet fleet;

	private final RedSwitch redSwitch;

	private final boolean expected;

	private final CountDownLatch first = new CountDownLatch(1);

	private volatile boolean running;

	PulseLifecycle(RedisPulse pulse, RedisSignals signals, Fleet fleet, RedSwitch redSwitch, boolean expected) {
		this.pulse = pulse;
		this.signals = signals;
		this.fleet = fleet;
		this.redSwitch = redSwitch;
		this.expected = expected;
	}

	@Override
	public void beat(int instances, boolean complete, @Nullable ForcedMode forced) {
		if (complete) {
			this.fleet.seen(instances);
		}
		else {
			this.fleet.seenAtLeast(instances);
		}
		this.redSwitch.seen(forced);
		this.first.countDown();
	}

	@Override
	public void start() {
		this.running = true;
		this.signals.start();
		this.pulse.start(this);
		if (!firstWithin(PATIENCE) && !this.expected && this.fleet.size() == 1) {
			logger.warn("Redis cannot say how many instances there are, and neither ratelimit.fleet.expected nor a "
					+ "snapshot file says so: this one takes itself for the only one until it can");
		}
	}

	@Override
	public void stop() {
		this.pulse.close();
		this.signals.close();
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

	private boolean firstWithin(Duration patience) {
		try {
			return this.first.await(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
