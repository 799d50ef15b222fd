package dev.ratelimit.benchmarks.peers;

import java.util.List;
import java.util.function.ToDoubleFunction;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.Median;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * One contender under one workload; a worker's answer, and, as medians, the result.
 *
 * @param contender who
 * @param workload under what
 * @param throughput checks per second
 * @param p50Micros latency
 * @param p99Micros latency
 * @param p999Micros latency
 * @param clientCpuMicros processor time of the client per check
 * @param redisCpuMicros processor time of Redis per check
 * @param allowedShare of all checks
 * @param failedShare of all checks: errors, and answers without Redis
 * @param otherCores processors that worked for anything else than client and Redis
 * @param stolenShare of the processors' time, taken by other virtual machines
 */
record Measurement(String contender, String workload, double throughput, double p50Micros, double p99Micros,
		double p999Micros, double clientCpuMicros, double redisCpuMicros, double allowedShare, double failedShare,
		double otherCores, double stolenShare) {

	static Measurement of(ContenderKind kind, Workload workload, Tally tally, Machine machine, double redisSeconds) {
		double checks = Math.max(1, tally.checks());
		double other = machine.busyCores() - (machine.ownSeconds() + redisSeconds) / tally.seconds();
		return new Measurement(kind.toString(), workload.id(), tally.throughput(), tally.micros(50), tally.micros(99),
				tally.micros(99.9), machine.ownSeconds() * 1e6 / checks, redisSeconds * 1e6 / checks,
				tally.share(Contender.Outcome.ALLOWED), tally.share(Contender.Outcome.FAILED), Math.max(0, other),
				machine.stolenShare());
	}

	/** The median of each number, over rounds of the same. */
	static Measurement median(List<Measurement> rounds) {
		Measurement first = rounds.get(0);
		return new Measurement(first.contender, first.workload, median(rounds, Measurement::throughput),
				median(rounds, Measurement::p50Micros), median(rounds, Measurement::p99Micros),
				median(rounds, Measurement::p999Micros), median(rounds, Measurement::clientCpuMicros),
				median(rounds, Measurement::redisCpuMicros), median(rounds, Measurement::allowedShare),
				median(rounds, Measurement::failedShare), median(rounds, Measurement::otherCores),
				median(rounds, Measurement::stolenShare));
	}

	private static double median(List<Measurement> rounds, ToDoubleFunction<Measurement> number) {
		return Median.of(rounds.stream().mapToDouble(number).toArray()).value();
	}

	/** Processor time of client and Redis per check. */
	double allCpuMicros() {
		return this.clientCpuMicros + this.redisCpuMicros;
	}

	/** Whether the checks were decided as they should have been. */
	boolean sound() {
		return this.failedShare < 0.005
				&& Math.abs(this.allowedShare - ContenderKind.parse(this.contender).expectedShare()) < 0.01;
	}

}
