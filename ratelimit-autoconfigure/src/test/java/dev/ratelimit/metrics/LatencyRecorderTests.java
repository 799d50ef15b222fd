package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class LatencyRecorderTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final Timer told = timer("told");

	private final Timer expected = timer("expected");

	private final LatencyRecorder recorder = new LatencyRecorder(this.told, MeterNames.latencyBuckets());

	@Test
	void timerShowsWhatItWouldHaveIfItHadBeenToldEachValue() {
		for (int i = 0; i < 10_000; i++) {
			record(ThreadLocalRandom.current().nextLong(200_000));
		}
		record(Duration.ofMillis(3).toNanos());
		record(0);
		this.recorder.handOver();
		assertSame();
	}

	@Test
	void valuesAtTheEdgeOfABucketAreInIt() {
		for (Duration bucket : MeterNames.latencyBuckets()) {
			record(bucket.toNanos());
			record(bucket.toNanos() + 1);
			record(bucket.toNanos() - 1);
		}
		this.recorder.handOver();
		assertSame();
	}

	@Test
	void whatWasHandedOverIsNotHandedOverAgain() {
		record(70_000);
		this.recorder.handOver();
		this.recorder.handOver();
		record(90_000);
		record(Duration.ofSeconds(2).toNanos());
		this.recorder.handOver();
		assertSame();
	}

	private void record(long nanos) {
		this.recorder.record(nanos);
		this.expected.record(nanos, TimeUnit.NANOSECONDS);
	}

	private void assertSame() {
		assertThat(this.told.count()).isEqualTo(this.expected.count());
		assertThat(this.told.totalTime(TimeUnit.NANOSECONDS)).isCloseTo(this.expected.totalTime(TimeUnit.NANOSECONDS),
				within(1d));
		assertThat(this.told.max(TimeUnit.NANOSECONDS)).isEqualTo(this.expected.max(TimeUnit.NANOSECONDS));
		assertThat(this.told.takeSnapshot().histogramCounts()).extracting(CountAtBucket::count)
			.isEqualTo(
					Arrays.stream(this.expected.takeSnapshot().histogramCounts()).map(CountAtBucket::count).toList());
	}

	private Timer timer(String name) {
		return Timer.builder(name).serviceLevelObjectives(MeterNames.latencyBuckets()).register(this.registry);
	}

}
