package dev.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.RedisClient;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of checks while there is no connection to Redis.
 */
class OutageTests {

	private static final int CHECKS = 200;

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final RedisClient client = RedisClient.create("redis://localhost:1");

	private final RedisConnector connector = RedisConnector.to(this.client, "redis");

	@AfterEach
	void close() {
		this.connector.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(10));
		this.deadlines.close();
	}

	@Test
	void noCheckMakesAnExceptionWithAStackTrace(@TempDir Path directory) throws IOException {
		PolicyRateLimiter limiter = limiter();
		assertThat(join(limiter.check(request(0))).reason()).isEqualTo(Decision.Reason.UNAVAILABLE);
		Path file = directory.resolve("outage.jfr");
		try (Recording recording = new Recording()) {
			recording.enable("jdk.JavaExceptionThrow");
			recording.start();
			IntStream.range(0, CHECKS).forEach((i) -> limiter.check(request(i)));
			assertThat(new IllegalStateException("shows that exceptions are recorded")).hasNoCause();
			recording.stop();
			recording.dump(file);
		}
		long thread = Thread.currentThread().getId();
		assertThat(RecordingFile.readAllEvents(file)
			.stream()
			.filter((event) -> event.getThread() != null && event.getThread().getJavaThreadId() == thread)
			.map((event) -> event.getClass("thrownClass").getName())
			.filter((name) -> !name.equals(UnansweredException.class.getName()))
			.distinct()).containsExactly(IllegalStateException.class.getName());
	}

	private PolicyRateLimiter limiter() {
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		Counters guarded = RateLimiterBuilder.guarded(RedisCounters.on(this.connector), nodes, this.deadlines,
				Duration.ofMillis(20));
		Policy policy = Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "100/m")
			.limit("per-tenant", List.of(Dimension.TENANT), "1000/m")
			.enforcement(Enforcement.LEASED)
			.build();
		return RateLimiterBuilder
			.on(RateLimiterBuilder.leased(guarded, LeaseOptions.DEFAULTS, () -> 1, (counter) -> true, (permits) -> {
			}, this.deadlines))
			.policies(policy)
			.build();
	}

	private static Request request(int user) {
		return Request.of("orders").with(Dimension.USER, "user-" + user % 10).with(Dimension.TENANT, "acme");
	}

}
