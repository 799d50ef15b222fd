package dev.ratelimit.benchmarks.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.RedisURI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures one contender, in the JVM that {@link WorkerProcess} started for it, and
 * writes one line of JSON for each workload that it reads, until there is no more to read
 * or the parent is gone. Each gets the contender anew and an empty Redis.
 */
@Command(name = "worker", hidden = true)
public final class WorkerCommand implements Callable<Integer> {

	/** Code that was not compiled yet would miss any other and open the breaker. */
	private static final Duration COLD_DEADLINE = Duration.ofSeconds(2);

	@Option(names = "--uri", required = true)
	@SuppressWarnings("NullAway.Init")
	private String uri;

	@Option(names = "--contender", required = true)
	@SuppressWarnings("NullAway.Init")
	private String contender;

	@Option(names = "--workloads", required = true, split = ",")
	@SuppressWarnings("NullAway.Init")
	private List<String> workloads;

	@Option(names = "--deadline", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--warm-up", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration warmUp;

	@Option(names = "--settle", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration settle;

	@Option(names = "--measure", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration measure;

	@Override
	public Integer call() throws IOException {
		RedisURI redis = RedisURI.create(this.uri);
		ContenderKind kind = ContenderKind.parse(this.contender);
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		try (ServerProbe probe = new ServerProbe(redis)) {
			warmUp(kind, redis, probe);
			for (String order = orders.readLine(); order != null; order = orders.readLine()) {
				Measurement measured = measure(kind, Workload.parse(order), redis, probe);
				System.out.println(new ObjectMapper().writeValueAsString(measured));
			}
		}
		return 0;
	}

	private void warmUp(ContenderKind kind, RedisURI redis, ServerProbe probe) {
		for (String id : this.workloads) {
			Workload workload = Workload.parse(id);
			probe.flush();
			try (Contender cold = kind.open(redis, workload.keys(), COLD_DEADLINE)) {
				new ClosedLoop(cold, workload).run(this.warmUp.dividedBy(this.workloads.size()));
			}
		}
	}

	private Measurement measure(ContenderKind kind, Workload workload, RedisURI redis, ServerProbe probe) {
		probe.flush();
		try (Contender warm = kind.open(redis, workload.keys(), this.deadline)) {
			ClosedLoop loop = new ClosedLoop(warm, workload);
			loop.run(this.settle);
			Machine before = Machine.now();
			double redisBefore = probe.cpuSeconds();
			Tally tally = loop.run(this.measure);
			double redisSeconds = probe.cpuSeconds() - redisBefore;
			return Measurement.of(kind, workload, tally, Machine.now().since(before), redisSeconds);
		}
	}

}
