package dev.ratelimit.benchmarks.experiment;

import dev.ratelimit.benchmarks.lab.LabResult;

/** One of them. */
interface Experiment {

	LabResult run(Setting setting) throws Exception;

}
