package dev.ratelimit.benchmarks;

import picocli.CommandLine;
import picocli.CommandLine.Command;

import dev.ratelimit.benchmarks.capacity.PlanCommand;
import dev.ratelimit.benchmarks.chaos.ChaosCommand;
import dev.ratelimit.benchmarks.experiment.ExperimentCommand;
import dev.ratelimit.benchmarks.experiment.InstanceCommand;
import dev.ratelimit.benchmarks.gateway.GatewayCommand;
import dev.ratelimit.benchmarks.gen.GenCommand;
import dev.ratelimit.benchmarks.grpc.GrpcCommand;
import dev.ratelimit.benchmarks.million.MillionCommand;
import dev.ratelimit.benchmarks.peers.PeersCommand;
import dev.ratelimit.benchmarks.peers.WorkerCommand;
import dev.ratelimit.benchmarks.recovery.RecoveryCommand;
import dev.ratelimit.benchmarks.report.ReportCommand;

/**
 * The command line of the benchmarks:
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar}.
 */
@Command(name = "ratelimit-benchmarks", description = "Measures the rate limiter on servers that it starts itself.",
		mixinStandardHelpOptions = true,
		subcommands = { MemoryCommand.class, PeersCommand.class, GatewayCommand.class, GrpcCommand.class,
				RecoveryCommand.class, GenCommand.class, ChaosCommand.class, PlanCommand.class, MillionCommand.class,
				ExperimentCommand.class, ReportCommand.class, InstanceCommand.class, WorkerCommand.class,
				JmhCommand.class })
final class Benchmarks {

	private Benchmarks() {
	}

	public static void main(String[] arguments) {
		System.exit(new CommandLine(new Benchmarks()).execute(arguments));
	}

}
