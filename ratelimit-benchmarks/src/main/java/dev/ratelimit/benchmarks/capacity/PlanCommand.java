package dev.ratelimit.benchmarks.capacity;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * Servers that a load needs, with the arithmetic. It computes only, and starts nothing.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar plan --rps 1000000 --limits 3 --tenants 100000}
 */
@Command(name = "plan", description = "Shards, instances, memory and network that a load needs, with the arithmetic.",
		mixinStandardHelpOptions = true)
public final class PlanCommand implements Callable<Integer> {

	private static final double[] ROWS = { 100_000, 1_000_000, 10_000_000 };

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--rps", paramLabel = "N", defaultValue = "1000000",
			description = "Requests per second (default: ${DEFAULT-VALUE}).")
	private double rps;

	@Option(names = "--limits", paramLabel = "N", defaultValue = "3",
			description = "Limits of a request, of two quotas each: one by tenant, one by address, the others by user "
					+ "(default: ${DEFAULT-VALUE}).")
	private int limits;

	@Option(names = "--tenants", paramLabel = "N", defaultValue = "100000", description = "Default: ${DEFAULT-VALUE}.")
	private int tenants;

	@Option(names = "--number", paramLabel = "NAME=VALUE",
			description = "Another value for one of the numbers that are printed; may be repeated.")
	private Map<String, Double> changed = new LinkedHashMap<>();

	@Option(names = "--lab", paramLabel = "DIR", defaultValue = "target/lab",
			description = "Folder with results of this machine: peers.json, memory.json (default: ${DEFAULT-VALUE}).")
	private Path lab = Path.of("target/lab");

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		if (this.rps < 1 || this.limits < 1 || this.tenants < 1) {
			throw new ParameterException(this.spec.commandLine(), "--rps, --limits and --tenants must be at least 1");
		}
		Numbers committed = Numbers.committed();
		Numbers numbers = committed.measuredIn(this.lab);
		boolean measuredHere = !numbers.equals(committed);
		for (Map.Entry<String, Double> change : this.changed.entrySet()) {
			if (!numbers.all().containsKey(change.getKey())) {
				throw new ParameterException(this.spec.commandLine(),
						"--number: there is no '" + change.getKey() + "'");
			}
			numbers = numbers.with(change.getKey(), change.getValue(), "assumption", "--number");
		}
		PlanReport report = report(numbers, measuredHere);
		report.print(this.spec.commandLine().getOut());
		this.options.write(report);
		return 0;
	}

	private PlanReport report(Numbers numbers, boolean measuredHere) {
		List<CapacityPlan> rows = DoubleStream.concat(DoubleStream.of(ROWS), DoubleStream.of(this.rps))
			.distinct()
			.sorted()
			.boxed()
			.flatMap((each) -> Stream.of(CapacityPlan.ADAPTIVE, CapacityPlan.STRICT)
				.map((enforcement) -> plan(each, enforcement, numbers)))
			.toList();
		return new PlanReport(numbers.all(), measuredHere, plan(this.rps, CapacityPlan.ADAPTIVE, numbers), rows);
	}

	private CapacityPlan plan(double rps, String enforcement, Numbers numbers) {
		return CapacityPlan.of(rps, this.limits, this.tenants, enforcement, numbers);
	}

}
