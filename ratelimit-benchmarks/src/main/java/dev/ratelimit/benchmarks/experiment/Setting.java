package dev.ratelimit.benchmarks.experiment;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.lab.LabFolder;

/**
 * What an experiment runs in.
 *
 * @param options of the command
 * @param folder for plots
 */
record Setting(RunOptions options, LabFolder folder) {

	boolean quick() {
		return this.options.quick();
	}

	/** One of two numbers. */
	int of(int thorough, int quick) {
		return quick() ? quick : thorough;
	}

	static String machine(MeasuredRedis redis) {
		return Machine.describe(redis.toString());
	}

	/** Starts some instances, runs, and stops them. */
	static <T> T with(List<InstanceSpec> specs, Run<T> run) throws Exception {
		List<InstanceProcess> instances = new ArrayList<>(InstanceProcess.start(specs));
		try {
			return run.with(instances);
		}
		finally {
			instances.forEach(InstanceProcess::close);
		}
	}

	/** Shows what happens. */
	static void progress(String format, Object... arguments) {
		System.err.printf(format + "%n", arguments);
	}

	/** Something that needs instances. */
	interface Run<T> {

		T with(List<InstanceProcess> instances) throws Exception, IOException;

	}

}
