package dev.ratelimit.policy;

/**
 * What a version of a policy has decided.
 *
 * @param decisions how many requests its limits were asked about
 * @param refusals how many of them they refused
 */
public record Tally(long decisions, long refusals) {

	public Tally {
		if (refusals < 0 || refusals > decisions) {
			throw new IllegalArgumentException("of " + decisions + " decisions " + refusals + " cannot be refusals");
		}
	}

	public Tally plus(Tally other) {
		return new Tally(this.decisions + other.decisions, this.refusals + other.refusals);
	}

	/**
	 * The share of refusals, 0 if nothing was decided.
	 */
	public double rate() {
		return (this.decisions > 0) ? (double) this.refusals / this.decisions : 0;
	}

}
