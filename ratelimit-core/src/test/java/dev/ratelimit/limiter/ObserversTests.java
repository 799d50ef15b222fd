package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.counter.UnansweredException;

import static org.assertj.core.api.Assertions.assertThat;

class ObserversTests {

	private static final UnansweredException TIMEOUT = new UnansweredException(Decision.Reason.TIMEOUT, "late");

	private static final UnansweredException LOADING = new UnansweredException(Decision.Reason.LOADING, "reads");

	private final AtomicLong nanos = new AtomicLong();

	private final Observers observers = new Observers(List.of(), this.nanos::get);

	private final Logger logger = (Logger) LoggerFactory.getLogger(PolicyRateLimiter.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.setLevel(Level.INFO);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void stop() {
		this.logger.detachAppender(this.log);
		this.logger.setLevel(null);
	}

	@Test
	void failuresAndAnswersInTurnAreLoggedOnce() {
		for (int i = 0; i < 1_000; i++) {
			this.observers.unanswered(TIMEOUT);
			this.observers.answered(this.nanos.get());
			pass(Duration.ofMillis(10));
		}
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
	}

	@Test
	void eachReasonIsLoggedOnceInAnEpisode() {
		this.observers.unanswered(TIMEOUT);
		this.observers.unanswered(LOADING);
		this.observers.unanswered(TIMEOUT);
		assertThat(this.log.list).hasSize(2);
	}

	@Test
	void episodeIsOverWhenNothingHasFailedForAWhile() {
		this.observers.unanswered(TIMEOUT);
		assertThat(this.observers.degraded()).isEqualTo(Decision.Reason.TIMEOUT);
		pass(Duration.ofSeconds(11));
		assertThat(this.observers.degraded()).isNull();
		this.observers.answered(this.nanos.get());
		this.observers.answered(this.nanos.get());
		this.observers.unanswered(TIMEOUT);
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel)
			.containsExactly(Level.WARN, Level.INFO, Level.WARN);
	}

	@Test
	void nameOfAPolicyThatDoesNotExistIsLoggedOnce() {
		this.observers.unknownPolicy("ordres", FailureMode.ALLOW);
		this.observers.unknownPolicy("ordres", FailureMode.ALLOW);
		this.observers.unknownPolicy("logni", FailureMode.DENY);
		assertThat(this.log.list).extracting(ILoggingEvent::getFormattedMessage)
			.satisfiesExactly((line) -> assertThat(line).contains("'ordres'").contains("'allow'"),
					(line) -> assertThat(line).contains("'logni'").contains("'deny'"));
	}

	@Test
	void namesThatNoPolicyCanHaveAndMoreThanAHundredAreNotLogged() {
		this.observers.unknownPolicy("Ann\nFORGED", FailureMode.ALLOW);
		assertThat(this.log.list).isEmpty();
		for (int i = 0; i < 1_000; i++) {
			this.observers.unknownPolicy("policy-" + i, FailureMode.ALLOW);
		}
		assertThat(this.log.list).hasSize(100);
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

}
