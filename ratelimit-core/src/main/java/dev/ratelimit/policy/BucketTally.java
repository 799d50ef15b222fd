package dev.ratelimit.policy;

/**
 * Requests of a group of callers that both versions of a policy decided, each in counters
 * of its own.
 *
 * @param decisions number of requests
 * @param onlyNewRefused requests that only the new version refused
 * @param onlyOldRefused requests that only the previous version refused
 */
public record BucketTally(long decisions, long onlyNewRefused, long onlyOldRefused) {

	/**
	 * How much more the new version refuses, as a share of the requests; negative if it
	 * refuses less, 0 if nothing was decided.
	 */
	double difference() {
		return (this.decisions > 0) ? (double) (this.onlyNewRefused - this.onlyOldRefused) / this.decisions : 0;
	}

	/**
	 * How much more the new version refuses than expected, in units of the square root of
	 * the requests; there must be some.
	 */
	double excess(double expected) {
		return (this.onlyNewRefused - this.onlyOldRefused - expected * this.decisions) / Math.sqrt(this.decisions);
	}

	BucketTally plus(BucketTally other) {
		return new BucketTally(this.decisions + other.decisions, this.onlyNewRefused + other.onlyNewRefused,
				this.onlyOldRefused + other.onlyOldRefused);
	}

}
