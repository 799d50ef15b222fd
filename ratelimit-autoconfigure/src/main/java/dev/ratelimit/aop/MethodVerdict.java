package dev.ratelimit.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * What all limits of a method say about a call.
 *
 * @param passed decisions that let it pass, with the limits they are about
 * @param refusal the decision that refuses it, {@code null} if it passes
 * @param bypass stands for limits whose condition is false, {@code null} if there is none
 */
record MethodVerdict(List<Passed> passed, @Nullable Decision refusal, @Nullable Decision bypass) {

	static final MethodVerdict NOTHING = new MethodVerdict(List.of(), null, null);

	boolean allowed() {
		return this.refusal == null;
	}

	/**
	 * The decision for a parameter of the method: the first that code can settle,
	 * otherwise the first.
	 */
	@Nullable Decision shown() {
		return this.passed.stream()
			.map(Passed::decision)
			.filter((decision) -> decision.receipt().settling() != null)
			.findFirst()
			.orElseGet(() -> this.passed.isEmpty() ? this.bypass : this.passed.get(0).decision());
	}

	/**
	 * This verdict after one more decision.
	 */
	MethodVerdict and(MethodLimit limit, Decision decision) {
		if (!decision.allowed()) {
			return new MethodVerdict(this.passed, decision, this.bypass);
		}
		List<Passed> more = new ArrayList<>(this.passed);
		more.add(new Passed(limit, decision));
		return new MethodVerdict(List.copyOf(more), null, this.bypass);
	}

	/**
	 * This verdict without a limit whose condition is false.
	 */
	MethodVerdict bypassed(Decision decision) {
		return new MethodVerdict(this.passed, this.refusal, Objects.requireNonNullElse(this.bypass, decision));
	}

	/**
	 * A decision that lets a call pass.
	 */
	record Passed(MethodLimit limit, Decision decision) {
	}

}
