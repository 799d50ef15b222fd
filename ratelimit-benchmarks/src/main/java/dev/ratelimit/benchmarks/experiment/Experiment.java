package dev.ratelimit.benchmarks.experiment;

import dev.ratelimit.benchmarks.lab.LabResult;

/** One of the six. */
interface Experiment {

	LabResult run(Setting setting) throws Exception;

}
