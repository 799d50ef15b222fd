package dev.ratelimit.metrics;

import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.guard.BreakerState;

import static org.assertj.core.api.Assertions.assertThat;

class NodeMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final NodeMeters meters = new NodeMeters(this.registry);

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
