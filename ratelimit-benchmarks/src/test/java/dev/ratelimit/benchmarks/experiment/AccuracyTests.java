package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;

import static org.assertj.core.api.Assertions.assertThat;

class AccuracyTests {

	private static final int SECONDS = 10;

	private static final Order ORDER = new Order(1, SECONDS, 1, 75, 1, 40, 0, 0, 0);

	@Test
	void exactlyTheLimitIsMetInEveryWindow() {
		List<Verdict> verdicts = judge(admitting(150, 100), 0, 0);

		assertThat(verdicts).hasSize(3).extracting(Verdict::result).containsOnly(Verdict.Result.MET);
	}

	@Test
	void aWindowWithTooManyAdmissionsIsABrokenBound() {
		List<Long> admitted = admitting(150, 100);
		admitted.set(5, 302L);

		assertThat(judge(admitted, 0, 0)).filteredOn(Verdict::broken)
			.singleElement()
			.satisfies((verdict) -> assertThat(verdict.measured()).isEqualTo("102 too many"));
	}

	@Test
	void aRefusalWithinTheLimitIsABrokenBoundOfStrict() {
		assertThat(judge(admitting(150, 100), 1, 0)).filteredOn(Verdict::broken)
			.extracting(Verdict::name)
			.containsExactly("strict: refused within the limit never");
	}

	@Test
	void lessThanItsShareOfTheLimitIsABrokenBound() {
		assertThat(judge(admitting(150, 94), 0, 0)).filteredOn(Verdict::broken)
			.extracting(Verdict::name)
			.containsExactly("strict: above the limit at least 95 % of it");
	}

	@Test
	void aDegradedRunOnlyShowsTheUpperBound() {
		assertThat(judge(admitting(150, 50), 7, 100)).extracting(Verdict::result)
			.containsExactly(Verdict.Result.MET, Verdict.Result.NOT_RESOLVABLE, Verdict.Result.NOT_RESOLVABLE);
	}

	/** The burst at first, then a number of admissions in each second. */
	private static List<Long> admitting(long first, long each) {
		List<Long> admitted = new ArrayList<>(Collections.nCopies(SECONDS, each));
		admitted.set(0, first);
		admitted.set(1, 150L);
		return admitted;
	}

	private static List<Verdict> judge(List<Long> admitted, long refusedWithin, long degraded) {
		List<List<Long>> tracked = List.of(admitted, Collections.nCopies(SECONDS, 40L));
		Outcomes.Latency none = new Outcomes.Latency(0, 0, 0);
		List<Outcomes.Second> seconds = List.of(new Outcomes.Second(1_000 - degraded, 0, degraded, 0, 1));
		Outcomes outcomes = new Outcomes(1_000, SECONDS, 1, 2, 3, none, none, 0, tracked, tracked, refusedWithin, 0,
				400, seconds, List.of(), List.of(), 1);
		List<Verdict> verdicts = new ArrayList<>();
		Table table = new Table("T", Collections.nCopies(9, "column"));
		new Accuracy.Judged(Accuracy.Mode.STRICT, ORDER, List.of(outcomes)).add(table, verdicts);
		assertThat(table.rows()).hasSize(3);
		return verdicts;
	}

}
