package dev.ratelimit.events;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

class DeliveryLogTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger(UsageEvents.class);

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	private final AtomicLong dropped = new AtomicLong();

	private final AtomicLong nanos = new AtomicLong();

	private final DeliveryLog log = new DeliveryLog(this.dropped::get, this.nanos::get);

	@BeforeEach
	void listen() {
		this.logger.setLevel(Level.INFO);
		this.lines.start();
		this.logger.addAppender(this.lines);
	}

	@AfterEach
	void stopListening() {
		this.logger.detachAppender(this.lines);
		this.logger.setLevel(null);
	}

	@Test
	void nothingIsSaidWhileNothingIsDropped() {
		this.log.trouble(new IllegalStateException("no broker"));
		lookAfter(Duration.ofMinutes(1));
		assertThat(this.lines.list).isEmpty();
	}

	@Test
	void firstDropIsSaidWithTheReasonAndNoOther() {
		this.log.trouble(new IllegalStateException("no broker"));
		for (int i = 0; i < 10; i++) {
			this.dropped.addAndGet(100);
			lookAfter(Duration.ofSeconds(1));
		}
		assertThat(this.lines.list).singleElement()
			.hasToString("[WARN] Usage events are dropped (no broker); decisions are not affected");
	}

	@Test
	void endIsSaidWithTheNumber() {
		this.dropped.addAndGet(100);
		lookAfter(Duration.ofSeconds(1));
		this.dropped.addAndGet(100);
		lookAfter(Duration.ofSeconds(1));
		lookAfter(Duration.ofSeconds(11));
		lookAfter(Duration.ofSeconds(11));
		assertThat(this.lines.list).hasSize(2)
			.last()
			.hasToString("[INFO] No usage event was dropped for 10 s; 200 were before that");
	}

	private void lookAfter(Duration time) {
		this.nanos.addAndGet(time.toNanos());
		this.log.report();
	}

}
