package dev.ratelimit.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.guard.BreakerState;

import static org.assertj.core.api.Assertions.assertThat;

class NodeMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final AtomicLong nanos = new AtomicLong();

	private NodeMeters late;

	private final NodeMeters meters = new NodeMeters(this.registry, this.nanos::get);

	@Test
	void latencyOfANodeHasTheBucketsOfDecisions() {
		this.meters.answered("one:6379", 60_000, 0);
		assertThat(this.registry.get("ratelimit.redis.latency")
			.tag("node", "one:6379")
			.timer()
			.takeSnapshot()
			.histogramCounts()).extracting(CountAtBucket::count).startsWith(0d, 1d).hasSize(10);
	}

	@Test
	void clockSkewIsThatOfTheLastAnswer() {
		this.meters.answered("one:6379", 60_000, 1_000);
		this.meters.answered("one:6379", 60_000, -700_000);
		assertThat(this.registry.get("ratelimit.redis.clock.skew")
			.tag("node", "one:6379")
			.timeGauge()
			.value(TimeUnit.MILLISECONDS)).isEqualTo(-700);
	}

	@Test
	void errorsAndOutagesOfANodeAreAtZeroBeforeTheFirst() {
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(this.registry.get("ratelimit.redis.errors").counters())
			.allSatisfy((counter) -> assertThat(counter.count()).isZero())
			.extracting((counter) -> counter.getId().getTag("reason"))
			.contains("timeout", "unavailable", "breaker-open", "give-back")
			.doesNotContain("limits", "switch", "unknown-policy")
			.doesNotHaveDuplicates();
		assertThat(this.registry.get("ratelimit.outage").tag("node", "one:6379").timer().count()).isZero();
	}

	@Test
	void outageLastsFromTheFirstRefusedCheckUntilTheBreakerIsClosed() {
		Timer outage = outage();
		this.meters.changed("one:6379", BreakerState.OPEN);
		pass(7);
		this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		pass(5);
		this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		this.meters.changed("one:6379", BreakerState.HALF_OPEN);
		pass(2);
		assertThat(outage.count()).isZero();
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(outage.totalTime(TimeUnit.SECONDS)).isEqualTo(7);
		this.meters.changed("one:6379", BreakerState.OPEN);
		this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		pass(3);
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(outage.count()).isEqualTo(2);
		assertThat(outage.totalTime(TimeUnit.SECONDS)).isEqualTo(10);
	}

	@Test
	void gaugeShowsHowLongAnOutageHasLastedWhileChecksAreRefused() {
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(running()).isZero();
		this.meters.changed("one:6379", BreakerState.OPEN);
		for (int i = 0; i < 4; i++) {
			this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
			pass(9);
		}
		assertThat(running()).isEqualTo(36);
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(running()).isZero();
		this.meters.left("one:6379");
		assertThat(this.registry.find("ratelimit.outage.current").meters()).isEmpty();
	}

	@Test
	void gaugeIsZeroWhenNoCheckWasRefusedForTenSeconds() {
		this.meters.changed("one:6379", BreakerState.OPEN);
		this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		pass(10);
		assertThat(running()).isEqualTo(10);
		pass(1);
		assertThat(running()).isZero();
		this.meters.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		assertThat(running()).isEqualTo(11);
	}

	private double running() {
		return this.registry.get("ratelimit.outage.current")
			.tag("node", "one:6379")
			.timeGauge()
			.value(TimeUnit.SECONDS);
	}

	@Test
	void errorsWithoutAnOpenBreakerAreNoOutage() {
		this.meters.failed("one:6379", Decision.Reason.TIMEOUT);
		pass(7);
		this.meters.changed("one:6379", BreakerState.CLOSED);
		assertThat(outage().count()).isZero();
	}

	@Test
	void checkThatWasRefusedBeforeTheBreakerClosedBeginsNoOutageAfterwards() {
		NodeMeters late = new NodeMeters(this.registry, this::closeFirst);
		Timer outage = outage();
		this.late = late;
		late.changed("one:6379", BreakerState.OPEN);
		late.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		pass(100_000);
		late.changed("one:6379", BreakerState.OPEN);
		late.failed("one:6379", Decision.Reason.BREAKER_OPEN);
		pass(3);
		late.changed("one:6379", BreakerState.CLOSED);
		assertThat(outage.totalTime(TimeUnit.SECONDS)).isEqualTo(3);
	}

	/** The other thread closes the breaker while the first one looks at the clock. */
	private long closeFirst() {
		NodeMeters closing = this.late;
		this.late = null;
		if (closing != null) {
			closing.changed("one:6379", BreakerState.CLOSED);
		}
		return this.nanos.get();
	}

	private Timer outage() {
		this.meters.changed("one:6379", BreakerState.CLOSED);
		return this.registry.get("ratelimit.outage").tag("node", "one:6379").timer();
	}

	private void pass(int seconds) {
		this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
	}

	@Test
	void allMetersOfANodeGoWithIt() {
		this.meters.answered("one:6379", 60_000, 0);
		this.meters.failed("one:6379", Decision.Reason.TIMEOUT);
		this.meters.giveBackLost("one:6379");
		this.meters.changed("one:6379", BreakerState.OPEN);
		assertThat(this.registry.get("ratelimit.breaker.state").gauge().value()).isEqualTo(2);
		this.meters.left("one:6379");
		assertThat(this.registry.getMeters()).isEmpty();
	}

}
