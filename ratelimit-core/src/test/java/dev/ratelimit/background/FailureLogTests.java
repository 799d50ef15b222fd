package dev.ratelimit.background;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

class FailureLogTests {

	private static final String LOG = "test.failures";

	private final CapturedLog log = new CapturedLog(LOG);

	private final FailureLog failures = new FailureLog(LoggerFactory.getLogger(LOG), "{} fails ({})", "{} works");

	@AfterEach
	void close() {
		this.log.close();
	}

	@Test
	void logsTheBeginningAndTheEndOfFailuresOnly() {
		this.failures.worked("it");
		this.failures.failed("it", "why");
		this.failures.failed("it", "why");
		assertThat(this.failures.isFailing()).isTrue();
		this.failures.worked("it");
		this.failures.worked("it");
		assertThat(this.failures.isFailing()).isFalse();
		this.failures.failed("it", "again");
		assertThat(this.log.lines()).containsExactly("it fails (why)", "it works", "it fails (again)");
	}

	@Test
	void fewFailuresInARowCanBeLeftOut() {
		FailureLog patient = this.failures.after(3);
		patient.failed("it", 1);
		patient.failed("it", 2);
		patient.worked("it");
		assertThat(this.log.lines()).isEmpty();
		for (int i = 1; i < 6; i++) {
			patient.failed("it", i);
		}
		patient.worked("it");
		assertThat(this.log.lines()).containsExactly("it fails (3)", "it works");
	}

	@Test
	void failureThatIsLoggedOnceIsNeverLoggedAgain() {
		FailureLog once = FailureLog.once(LoggerFactory.getLogger(LOG), "{} fails");
		once.failed("it");
		once.failed("it");
		assertThat(this.log.lines()).containsExactly("it fails");
	}

	@Test
	void quietOneIsNotSeenOnLevelInfo() {
		FailureLog quiet = this.failures.quiet();
		quiet.failed("it", "why");
		quiet.worked("it");
		assertThat(this.log.lines()).isEmpty();
	}

}
