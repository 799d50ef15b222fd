package dev.ratelimit.benchmarks.peers;

import java.time.Duration;

/**
 * One gateway under load.
 *
 * @param variant what its route had
 * @param throughput requests per second
 * @param p50Micros latency
 * @param p99Micros latency
 * @param p999Micros latency
 * @param gatewayCpuMicros processor time of the gateway per request
 * @param redisCpuMicros processor time of Redis per request
 * @param allowedShare of all requests
 */
record GatewayMeasurement(String variant, double throughput, double p50Micros, double p99Micros, double p999Micros,
		double gatewayCpuMicros, double redisCpuMicros, double allowedShare) {

	static GatewayMeasurement of(GatewayVariant variant, Tally tally, Duration gateway, double redisSeconds) {
		double requests = Math.max(1, tally.checks());
		return new GatewayMeasurement(variant.toString(), tally.throughput(), tally.micros(50), tally.micros(99),
				tally.micros(99.9), gateway.toNanos() / 1e3 / requests, redisSeconds * 1e6 / requests,
				tally.share(Contender.Outcome.ALLOWED));
	}

	/** Whether the requests got what they should have got. */
	boolean sound() {
		return this.allowedShare > 0.99;
	}

}
