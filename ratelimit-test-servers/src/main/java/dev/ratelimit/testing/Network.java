package dev.ratelimit.testing;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How good the network of a {@link ChaosProxy} is.
 *
 * @param latency by which every reply is late
 * @param jitter by which it is late in addition, at most
 * @param loss share of the packets that stall their connection for {@link #STALL}, as if
 * they had been lost: TCP sends them again after about that time
 * @param bytesPerSecond bandwidth in each direction, over all connections; 0 if it is not
 * limited
 */
public record Network(Duration latency, Duration jitter, double loss, long bytesPerSecond) {

	/** Linux waits at least this long before it sends a packet again. */
	public static final Duration STALL = Duration.ofMillis(200);

	/** A network without faults. */
	public static final Network HEALTHY = new Network(Duration.ZERO, Duration.ZERO, 0, 0);

	public Network {
		if (latency.isNegative() || jitter.isNegative()) {
			throw new IllegalArgumentException("latency and jitter must not be negative");
		}
		if (!(loss >= 0 && loss <= 1)) {
			throw new IllegalArgumentException("loss must be between 0 and 1 but was " + loss);
		}
		if (bytesPerSecond < 0) {
			throw new IllegalArgumentException("bandwidth must not be negative");
		}
	}

	/** Delay of a packet, drawn anew; of requests, only a stall. */
	long delayNanos(boolean reply) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		long delay = (this.loss > 0 && random.nextDouble() < this.loss) ? STALL.toNanos() : 0;
		if (reply) {
			delay += this.latency.toNanos();
			if (!this.jitter.isZero()) {
				delay += random.nextLong(this.jitter.toNanos() + 1);
			}
		}
		return delay;
	}

}
