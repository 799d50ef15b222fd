package dev.ratelimit.benchmarks.experiment;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.lab.LabFolder;
import dev.ratelimit.benchmarks.lab.LabResult;

/**
 * The experiments of the lab, each by its number.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar experiment all --quick}
 */
@Command(name = "experiment", description = "The experiments of the lab: 1 strict or leased, 4 failure modes, "
		+ "5 accuracy, 6 a protected service.", mixinStandardHelpOptions = true)
public final class ExperimentCommand implements Callable<Integer> {

	private static final Map<String, Experiment> ALL = new LinkedHashMap<>();

	static {
		ALL.put("1", new StrictOrLeased());
		ALL.put("4", new FailureModes());
		ALL.put("5", new Accuracy());
		ALL.put("6", new ProtectedService());
	}

	@Mixin
	private RunOptions options = new RunOptions();

	@Parameters(paramLabel = "NUMBER", arity = "1..*", description = "Which ones, or all.")
	private List<String> numbers = List.of();

	@Option(names = "--out", defaultValue = "target/lab", paramLabel = "DIR",
			description = "Where results are kept (default: ${DEFAULT-VALUE}).")
	private Path out = Path.of("target/lab");

	@Option(names = "--resume", description = "Takes experiments that are there already instead of running them again.")
	private boolean resume;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws Exception {
		Map<String, Experiment> chosen = new LinkedHashMap<>();
		for (String number : this.numbers.equals(List.of("all")) ? List.copyOf(ALL.keySet()) : this.numbers) {
			Experiment experiment = ALL.get(number);
			if (experiment == null) {
				throw new ParameterException(this.spec.commandLine(), "there is no experiment '" + number + "', only "
						+ String.join(", ", ALL.keySet()) + " and all");
			}
			chosen.put(number, experiment);
		}
		LabFolder folder = new LabFolder(this.out, this.options);
		Setting setting = new Setting(this.options, folder);
		List<LabResult> results = new ArrayList<>();
		for (Map.Entry<String, Experiment> each : chosen.entrySet()) {
			LabResult result = folder.run("experiment-" + each.getKey(), this.resume,
					() -> each.getValue().run(setting));
			result.print(this.spec.commandLine().getOut());
			results.add(result);
		}
		this.options.write(results);
		return results.stream().allMatch(LabResult::passed) ? 0 : 1;
	}

}
