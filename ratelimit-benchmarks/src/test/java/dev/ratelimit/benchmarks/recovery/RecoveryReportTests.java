package dev.ratelimit.benchmarks.recovery;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecoveryReportTests {

	private static final double[] AT_ONCE = { 1, 1, 1, 1, 1, 1, 1 };

	@Test
	void fiveSecondsBelowNinetyNinePercentPass() {
		RecoveryReport report = report(new double[] { 0, 0.5, 0.9, 0.98, 0.98, 0.99, 1 }, AT_ONCE);

		assertThat(report.startSeconds()).isEqualTo(5);
		assertThat(report.returnSeconds()).isZero();
		assertThat(report.passed()).isTrue();
	}

	@Test
	void sixSecondsBelowNinetyNinePercentFail() {
		RecoveryReport report = report(AT_ONCE, new double[] { 0, 0, 0, 0, 0, 0.98, 1 });

		assertThat(report.returnSeconds()).isEqualTo(6);
		assertThat(report.passed()).isFalse();
	}

	@Test
	void laterSecondBelowNinetyNinePercentFails() {
		RecoveryReport report = report(new double[] { 0, 1, 1, 1, 1, 1, 0.98, 1 }, AT_ONCE);

		assertThat(report.startSeconds()).isEqualTo(7);
		assertThat(report.passed()).isFalse();
	}

	@Test
	void shortRunThatIsNeverEnforcedFails() {
		assertThat(report(AT_ONCE, new double[] { 0, 0 }).passed()).isFalse();
	}

	@Test
	void secondWithoutAnswersIsNotEnforced() {
		assertThat(PacedLoad.Second.of(1_000, 0, 0, 0).undegraded()).isZero();
	}

	private static RecoveryReport report(double[] started, double[] returned) {
		List<PacedLoad.Second> all = new ArrayList<>(seconds(started));
		all.addAll(seconds(0, 0, 0, 0));
		all.addAll(seconds(returned));
		return RecoveryReport.of("Redis", "in-process", 2, 0, 100, 1,
				RecoveryReport.Seconds.of(all, started.length, started.length + 4));
	}

	private static List<PacedLoad.Second> seconds(double... undegraded) {
		return DoubleStream.of(undegraded).mapToObj((share) -> new PacedLoad.Second(1_000, 1_000, share, 0)).toList();
	}

}
