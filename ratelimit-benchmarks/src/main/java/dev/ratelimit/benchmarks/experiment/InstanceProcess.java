package dev.ratelimit.benchmarks.experiment;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.ratelimit.benchmarks.common.ChildJvm;

/** A limiter instance in a JVM of its own, which executes orders. */
final class InstanceProcess implements AutoCloseable {

	private static final ObjectMapper JSON = new ObjectMapper();

	/** All instances have read their order by then. */
	private static final long LEAD_MILLIS = 500;

	private final Process process;

	private final BufferedWriter orders;

	private final BufferedReader answers;

	private InstanceProcess(InstanceSpec spec) throws IOException {
		this.process = ChildJvm.start(List.of("-Xms256m", "-Xmx256m"), "dev.ratelimit.benchmarks.Benchmarks",
				List.of("instance", JSON.writeValueAsString(spec)));
		this.orders = this.process.outputWriter();
		this.answers = this.process.inputReader();
	}

	/** Starts instances together and returns when all are warm. */
	static List<InstanceProcess> start(List<InstanceSpec> specs) throws IOException {
		List<InstanceProcess> instances = new ArrayList<>();
		try {
			for (InstanceSpec spec : specs) {
				instances.add(new InstanceProcess(spec));
			}
			for (InstanceProcess instance : instances) {
				instance.read();
			}
			return instances;
		}
		catch (IOException | RuntimeException ex) {
			instances.forEach(InstanceProcess::close);
			throw ex;
		}
	}

	/** Has all instances execute an order, beginning at the same time. */
	static List<Outcomes> run(List<InstanceProcess> instances, Order order, Meanwhile meanwhile) throws Exception {
		for (InstanceProcess instance : instances) {
			instance.write("connect");
		}
		for (InstanceProcess instance : instances) {
			instance.read();
		}
		long start = System.currentTimeMillis() + LEAD_MILLIS;
		for (InstanceProcess instance : instances) {
			instance.write(JSON.writeValueAsString(order.startingAt(start)));
		}
		meanwhile.run(start);
		List<Outcomes> outcomes = new ArrayList<>();
		for (InstanceProcess instance : instances) {
			outcomes.add(JSON.readValue(instance.read(), Outcomes.class));
		}
		return outcomes;
	}

	private void write(String line) throws IOException {
		this.orders.write(line);
		this.orders.newLine();
		this.orders.flush();
	}

	private String read() throws IOException {
		String line = this.answers.readLine();
		while (line != null && !line.startsWith("{")) {
			line = this.answers.readLine();
		}
		if (line == null) {
			throw new IllegalStateException("an instance failed, see above");
		}
		return line;
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

	/** What happens during an order. */
	interface Meanwhile {

		/** Runs with the time at which the order begins, in milliseconds since 1970. */
		void run(long start) throws Exception;

	}

}
