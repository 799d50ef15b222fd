package dev.ratelimit.benchmarks.peers;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.ratelimit.benchmarks.common.ChildJvm;

/**
 * A JVM of its own for one contender: what one has made the compiler assume, or left in
 * the heap, does not slow down the next. It stays for all rounds, idle while others have
 * their turn, so that it has to be warmed up only once.
 */
final class WorkerProcess implements AutoCloseable {

	private static final ObjectMapper JSON = new ObjectMapper();

	private final ContenderKind kind;

	private final Process process;

	private final BufferedWriter orders;

	private final BufferedReader answers;

	WorkerProcess(ContenderKind kind, Plan plan) throws IOException {
		this.kind = kind;
		// Batching of Bucket4j needs deep stacks.
		this.process = ChildJvm.start(List.of("-Xss4m", "-Xms512m", "-Xmx512m"), "dev.ratelimit.benchmarks.Benchmarks",
				List.of("worker", "--uri", plan.uri().toURI().toString(), "--contender", kind.toString(), "--workloads",
						plan.workloads(kind).stream().map(Workload::id).collect(Collectors.joining(",")), "--deadline",
						plan.deadline().toString(), "--warm-up", plan.warmUp().toString(), "--settle",
						plan.settle().toString(), "--measure", plan.measure().toString()));
		this.orders = this.process.outputWriter();
		this.answers = this.process.inputReader();
	}

	Measurement measure(Workload workload) throws IOException {
		this.orders.write(workload.id());
		this.orders.newLine();
		this.orders.flush();
		String answer = this.answers.readLine();
		while (answer != null && !answer.startsWith("{")) {
			answer = this.answers.readLine();
		}
		if (answer == null) {
			throw new IllegalStateException("the worker of " + this.kind + " failed, see above");
		}
		return JSON.readValue(answer, Measurement.class);
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
