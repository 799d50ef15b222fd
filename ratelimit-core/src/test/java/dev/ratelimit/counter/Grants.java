package dev.ratelimit.counter;

import java.util.concurrent.CompletionStage;

import dev.ratelimit.testing.Stages;

import static org.assertj.core.api.Assertions.assertThat;

/** Waits for grants, which may have gaps. */
public final class Grants {

	private Grants() {
	}

	/** A grant for which every counter answered. */
	public static Grant answered(CompletionStage<Grant> stage) {
		Grant grant = Stages.join(stage);
		assertThat(grant.gaps()).isEmpty();
		return grant;
	}

	/** The gap of a grant for which no counter answered. */
	public static Grant.Gap unanswered(CompletionStage<Grant> stage) {
		Grant grant = Stages.join(stage);
		assertThat(grant.readings()).isEmpty();
		assertThat(grant.gaps()).hasSize(1);
		return grant.gaps().get(0);
	}

}
