package dev.ratelimit.benchmarks.chaos;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * A proxy between any gateway and its Redis, which makes the network bad on demand.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar chaos --before 127.0.0.1:6379 --fault latency=50ms}
 */
@Command(name = "chaos", description = "A proxy before a Redis on the loopback, which makes the network bad on demand.",
		mixinStandardHelpOptions = true)
public final class ChaosCommand implements Callable<Integer> {

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--before", paramLabel = "HOST:PORT",
			description = "A server on this machine; may be repeated (default: a Redis that is started).")
	private List<String> servers = List.of();

	@Option(names = "--cluster",
			description = "The server is a node of a cluster: every node gets a proxy and announces its port.")
	private boolean cluster;

	@Option(names = "--listen", paramLabel = "PORT", description = "Port of the proxy; repeated like --before.")
	private List<Integer> listen = List.of();

	@Option(names = "--control", paramLabel = "PORT", defaultValue = "0",
			description = "Port that switches faults over HTTP (default: any).")
	private int control;

	@Option(names = "--fault", paramLabel = "NAME=VALUE",
			description = "From the start: latency=50ms, jitter=10ms, loss=1 (percent, each a stall of 200 ms), "
					+ "bandwidth=1MB (per second), link=open|cut|half-open; may be repeated.")
	private Map<String, String> faults = new LinkedHashMap<>();

	@Option(names = "--for", paramLabel = "DURATION",
			description = "Ends after this time (default: never, quick PT2S).")
	private @Nullable Duration duration;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final CountDownLatch closed = new CountDownLatch(1);

	@Override
	public Integer call() throws Exception {
		// Nodes of a cluster must announce their own ports again, also after Ctrl+C.
		Thread hook = new Thread(this::stop, "chaos-stop");
		Runtime.getRuntime().addShutdownHook(hook);
		try {
			if (!this.servers.isEmpty()) {
				run(this.servers);
			}
			else {
				try (MeasuredRedis redis = this.options.openRedis()) {
					run(List.of(redis.uri().getHost() + ":" + redis.uri().getPort()));
				}
			}
			return 0;
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(this.spec.commandLine(), String.valueOf(ex.getMessage()), ex);
		}
		finally {
			this.closed.countDown();
			if (this.stopped.getCount() > 0) {
				Runtime.getRuntime().removeShutdownHook(hook);
			}
		}
	}

	private void stop() {
		this.stopped.countDown();
		try {
			this.closed.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void run(List<String> before) throws IOException, InterruptedException {
		try (ProxiedNodes nodes = this.cluster ? ProxiedNodes.beforeClusterOf(before.get(0))
				: ProxiedNodes.before(before, this.listen); ControlPort port = new ControlPort(nodes, this.control)) {
			nodes.change(null, this.faults);
			PrintWriter out = this.spec.commandLine().getOut();
			for (ProxiedNodes.Node node : nodes.nodes()) {
				out.printf("127.0.0.1:%d leads to %d with %s%n", node.port(), node.before(), node.faults());
			}
			out.printf("control: curl -X POST 'http://127.0.0.1:%d/?latency=50ms', DELETE to end all faults%n",
					port.port());
			out.flush();
			if (this.duration == null && !this.options.quick()) {
				this.stopped.await();
			}
			else {
				Duration time = (this.duration != null) ? this.duration : Duration.ofSeconds(2);
				this.stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
			}
			this.options.write(nodes.nodes());
		}
	}

}
