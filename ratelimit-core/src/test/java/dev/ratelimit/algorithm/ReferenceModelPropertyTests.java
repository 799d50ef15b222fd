package dev.ratelimit.algorithm;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import static org.assertj.core.api.Assertions.assertThat;

class ReferenceModelPropertyTests {

	@Property(tries = 5_000, edgeCases = EdgeCasesMode.NONE)
	void everyDecisionIsTheModels(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.counting();
		ReferenceModel model = new ReferenceModel(scenario.algorithm(), scenario.quotas());
		for (Scenario.Attempt attempt : scenario.attempts()) {
			assertThat(counting.attempt(attempt.time(), attempt.cost())).as("%s", attempt)
				.isEqualTo(model.attempt(attempt.time(), attempt.cost()));
		}
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

}
