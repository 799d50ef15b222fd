package dev.ratelimit.benchmarks.gateway;

import java.nio.file.Path;
import java.time.Duration;

import dev.ratelimit.benchmarks.common.ChildProgram;

/**
 * Sends requests to a gateway, on connections that have one request at a time.
 */
interface HttpLoad extends AutoCloseable {

	/** wrk if it is installed, else a lean loop in this JVM. */
	static HttpLoad to(int port, int connections) {
		Path wrk = ChildProgram.find("wrk");
		return (wrk != null) ? new WrkLoad(wrk, port, connections) : new BuiltInLoad(port, connections);
	}

	Result run(Route route, Duration duration);

	@Override
	void close();

	/**
	 * What came back.
	 *
	 * @param requests how many were answered
	 * @param failed how many of them were not let pass, or without being counted
	 * @param seconds how long it took
	 * @param p50Micros latency
	 * @param p99Micros latency
	 */
	record Result(long requests, long failed, double seconds, double p50Micros, double p99Micros) {

		double failedShare() {
			return (double) this.failed / Math.max(1, this.requests);
		}

	}

}
