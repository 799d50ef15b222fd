package dev.ratelimit.benchmarks.experiment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.RedisURI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import dev.ratelimit.Request;
import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.OpenLoop;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * A limiter instance with its load, in the JVM that {@link InstanceProcess} started for
 * it. A line that it reads lets it connect a limiter, which it answers with a line; the
 * next is an {@link Order}, which it answers with {@link Outcomes}; and so on, until
 * there is no more to read or the parent is gone.
 */
@Command(name = "instance", hidden = true)
public final class InstanceCommand implements Callable<Integer> {

	private static final ObjectMapper JSON = new ObjectMapper();

	/** For the compiler, before the first order. */
	private static final Order WARM_UP = new Order(1, 1, 50, 100, 0, 0, 1_000, 1_000, 0);

	/** Callers of nobody else, so that no experiment finds their permits used. */
	private static final int WARM_UP_CALLERS = 4_000_000;

	@Parameters(index = "0")
	@SuppressWarnings("NullAway.Init")
	private String spec;

	@Override
	public Integer call() throws IOException {
		InstanceSpec spec = JSON.readValue(this.spec, InstanceSpec.class);
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		// A breaker that opens while the code is compiled would be open afterwards.
		try (Ours cold = open(spec.withDeadline(2_000))) {
			run(cold, WARM_UP, WARM_UP_CALLERS);
		}
		System.out.println("{}");
		for (String line = orders.readLine(); line != null; line = orders.readLine()) {
			try (Ours limiter = open(spec)) {
				limiter.awaitUndegraded(WARM_UP_CALLERS);
				System.out.println("{}");
				String order = orders.readLine();
				if (order == null) {
					return 0;
				}
				System.out.println(
						JSON.writeValueAsString(run(limiter, JSON.readValue(order, Order.class), spec.firstCaller())));
			}
		}
		return 0;
	}

	private static Ours open(InstanceSpec spec) {
		return new Ours(RedisURI.create(spec.uri()), List.of(spec.policy()), 0, spec.options());
	}

	private static Outcomes run(Ours limiter, Order order, int firstCaller) {
		for (long left = left(order); left > 0; left = left(order)) {
			LockSupport.parkNanos(left);
		}
		Machine before = Machine.now();
		long start = System.nanoTime();
		Recorder recorder = new Recorder(order, start);
		new OpenLoop((arrival, answer) -> {
			Request request = Ours.request(firstCaller + arrival.key()).withCost(arrival.cost());
			long sent = System.nanoTime();
			limiter.decide(request).whenComplete((decision, failure) -> {
				recorder.add(arrival, sent, decision);
				answer.complete((failure != null) ? Contender.Outcome.FAILED : Contender.Outcome.ALLOWED);
			});
		}, order.arrivals()).run();
		return recorder.outcomes((System.nanoTime() - start) / 1e9, Machine.now().since(before).ownSeconds());
	}

	private static long left(Order order) {
		return (order.startMillis() - System.currentTimeMillis()) * 1_000_000;
	}

}
