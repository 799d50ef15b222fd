package dev.ratelimit.benchmarks.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A gateway in a process of its own that stays up between its turns, so that its code is
 * compiled once and not measured while it is. Each turn begins with a moment to settle.
 */
final class WarmGateway implements AutoCloseable {

	private static final Duration SETTLE = Duration.ofSeconds(1);

	private final GatewayVariant variant;

	private final GatewayProcess process;

	private final HttpCalls calls;

	private final ClosedLoop loop;

	WarmGateway(GatewayVariant variant, List<String> arguments, int connections) throws IOException {
		Workload workload = new Workload(Keys.HUNDRED, connections);
		this.variant = variant;
		this.process = new GatewayProcess(arguments);
		this.calls = new HttpCalls(this.process.port(), workload);
		this.loop = new ClosedLoop(this.calls, workload);
	}

	GatewayVariant variant() {
		return this.variant;
	}

	void run(Duration duration) {
		this.loop.run(duration);
	}

	GatewayMeasurement measure(Duration duration, ServerProbe probe) {
		run(SETTLE);
		Duration before = this.process.cpu();
		double redisBefore = probe.cpuSeconds();
		Tally tally = this.loop.run(duration);
		return GatewayMeasurement.of(this.variant, tally, this.process.cpu().minus(before),
				probe.cpuSeconds() - redisBefore);
	}

	@Override
	public void close() {
		this.calls.close();
		this.process.close();
	}

}
