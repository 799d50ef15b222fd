package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.HeartbeatListener;
import dev.ratelimit.fleet.Heartbeats;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.redis.RedisPulse;
import dev.ratelimit.redis.RedisSignals;

/**
 * Runs heartbeats and signals while the server accepts requests: that is how long this
 * instance is one of those that share the limits.
 */
final class PulseLifecycle implements SmartLifecycle, HeartbeatListener {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** How long a start waits for the number of instances. */
	private static final Duration FIRST_HEARTBEAT_TIMEOUT = Duration.ofMillis(500);

	private final RedisPulse pulse;

	private final RedisSignals signals;

	private final Fleet fleet;

	private final ModeSwitch modeSwitch;

	private final Heartbeats heartbeats;

	private final boolean expected;

	private final Supplier<@Nullable ControlPlane> control;

	private final CountDownLatch first = new CountDownLatch(1);

	private volatile boolean running;

	PulseLifecycle(RedisPulse pulse, RedisSignals signals, Fleet fleet, ModeSwitch modeSwitch, Heartbeats heartbeats,
			boolean expected, Supplier<@Nullable ControlPlane> control) {
		this.pulse = pulse;
		this.signals = signals;
		this.fleet = fleet;
		this.modeSwitch = modeSwitch;
		this.heartbeats = heartbeats;
		this.expected = expected;
		this.control = control;
	}

	@Override
	public void heartbeat(int instances, boolean complete, boolean recorded, @Nullable ForcedMode forced) {
		this.heartbeats.taken();
		if (complete) {
			this.fleet.seen(instances);
		}
		else {
			this.fleet.seenAtLeast(instances);
		}
		if (recorded) {
			this.modeSwitch.seen(forced);
		}
		else {
			this.modeSwitch.notRecorded();
		}
		this.first.countDown();
	}

	@Override
	public void start() {
		this.running = true;
		this.signals.start();
		ControlPlane control = this.control.get();
		if (control != null) {
			this.pulse.revision(() -> control.state().revision());
		}
		this.pulse.start(this);
		if (!firstWithin(FIRST_HEARTBEAT_TIMEOUT) && !this.expected && this.fleet.size() == 1) {
			logger.warn(
					"The number of instances is unknown: Redis did not answer, and neither ratelimit.fleet.expected nor a "
							+ "snapshot file has it. This instance counts as the only one until Redis answers");
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

	private boolean firstWithin(Duration timeout) {
		try {
			return this.first.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
