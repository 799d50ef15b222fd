package dev.ratelimit.benchmarks.gateway;

/**
 * One route under load for a few seconds. Processor times are per request.
 *
 * @param route whose turn it was
 * @param throughput requests per second
 * @param p50Micros latency
 * @param p99Micros latency
 * @param gatewayMicros processor time of the gateway
 * @param redisMicros processor time of Redis
 * @param otherMicros processor time of load and upstream together, NaN if not known
 * @param failedShare of the requests that did not pass, or without being counted
 */
record Turn(String route, double throughput, double p50Micros, double p99Micros, double gatewayMicros,
		double redisMicros, double otherMicros, double failedShare) {

	/** Processor time of gateway and Redis. */
	double micros() {
		return this.gatewayMicros + this.redisMicros;
	}

}
