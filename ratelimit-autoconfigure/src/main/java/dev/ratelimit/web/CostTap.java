package dev.ratelimit.web;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settling;

/**
 * Looks for the true cost of one decision in a response whose head does not name it: in
 * the body that streams by, and in a trailer.
 */
public final class CostTap {

	private final CallDecisions decisions;

	private final Decision decision;

	private final Settling settling;

	private final @Nullable CostReader reader;

	private CostTap(CallDecisions decisions, Decision decision, Settling settling, @Nullable CostReader reader) {
		this.decisions = decisions;
		this.decision = decision;
		this.settling = settling;
		this.reader = reader;
	}

	/**
	 * One for each decision that the head of the response does not settle.
	 * @param head the cost that the head names, {@code null} if it names none
	 * @param contentType type of the body
	 * @param contentEncoding encoding of the body
	 */
	public static List<CostTap> of(CallDecisions decisions, Function<Settling, @Nullable Long> head,
			@Nullable String contentType, @Nullable String contentEncoding) {
		List<CostTap> taps = new ArrayList<>(1);
		for (Decision decision : decisions.settling()) {
			Settling settling = decision.receipt().settling();
			if (settling != null && head.apply(settling) == null) {
				CostReader reader = settling.json().isEmpty() ? null
						: CostReader.of(settling.json(), contentType, contentEncoding);
				taps.add(new CostTap(decisions, decision, settling, reader));
			}
		}
		return taps;
	}

	public Settling settling() {
		return this.settling;
	}

	/**
	 * Reads a part of the body. Its position stays where it is. Never throws.
	 */
	public void read(ByteBuffer part) {
		if (this.reader != null) {
			this.reader.read(part);
		}
	}

	/**
	 * The response has ended: settles by the trailer, else by the body.
	 * @param trailer the cost that a trailer names, {@code null} if it names none
	 * @param complete whether all of the response was sent
	 */
	public void end(@Nullable Long trailer, boolean complete) {
		Long cost = trailer;
		try (CostReader reader = this.reader) {
			cost = (cost == null && reader != null) ? reader.cost(this.decisions.estimate(this.decision), complete)
					: cost;
		}
		if (cost != null) {
			this.decisions.settle(this.decision, cost);
		}
		else {
			this.decision.receipt().costUnknown();
		}
	}

	/**
	 * Stops reading a response that another one replaces.
	 */
	public void drop() {
		if (this.reader != null) {
			this.reader.close();
		}
	}

}
