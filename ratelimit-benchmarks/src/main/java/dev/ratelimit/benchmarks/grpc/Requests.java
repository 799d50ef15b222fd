package dev.ratelimit.benchmarks.grpc;

import java.util.SplittableRandom;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;

/**
 * Requests that were made before the clock runs, one per tenant, in random order. For one
 * thread at a time.
 */
final class Requests {

	private final CheckRequest[] all;

	private final SplittableRandom random = new SplittableRandom();

	Requests(String policy, int tenants) {
		this.all = new CheckRequest[tenants];
		for (int i = 0; i < tenants; i++) {
			this.all[i] = CheckRequest.newBuilder().setPolicy(policy).putDimensions("tenant", "tenant-" + i).build();
		}
	}

	CheckRequest next() {
		return this.all[this.random.nextInt(this.all.length)];
	}

	/** A degraded answer is one that counters had no part in. */
	static Contender.Outcome outcome(CheckResponse answer) {
		return answer.getDegraded() ? Contender.Outcome.FAILED
				: answer.getAllowed() ? Contender.Outcome.ALLOWED : Contender.Outcome.REFUSED;
	}

}
