package dev.ratelimit.benchmarks.lab;

import java.util.Locale;

import dev.ratelimit.benchmarks.common.Machine;

/**
 * Who used the processors.
 *
 * @param instance processors of load and limiter
 * @param redis processors of Redis
 * @param other processors of everybody else on this machine
 * @param stolen share of the time that the hypervisor took
 * @param cores how many there are
 */
public record Usage(double instance, double redis, double other, double stolen, int cores) {

	private static final double BUSY = 0.9;

	/**
	 * Of a run.
	 * @param machine what happened on the machine meanwhile
	 * @param instanceSeconds processor time of load and limiters
	 * @param redisSeconds processor time of Redis
	 * @param seconds how long it took
	 */
	public static Usage of(Machine machine, double instanceSeconds, double redisSeconds, double seconds) {
		double instance = instanceSeconds / seconds;
		double redis = redisSeconds / seconds;
		return new Usage(instance, redis, Math.max(0, machine.busyCores() - instance - redis), machine.stolenShare(),
				Machine.cores());
	}

	/** What limited the run, with the evidence. */
	public String bottleneck() {
		String what;
		if (this.redis >= BUSY) {
			what = "Redis, whose processor is busy";
		}
		else if (this.instance + this.redis + this.other >= BUSY * this.cores) {
			what = (this.other > 0.25 * this.cores) ? "the machine, which also works for others"
					: "the processors of the machine, which limiters, load and Redis share";
		}
		else if (this.stolen > 0.05) {
			what = "the hypervisor, which takes processor time";
		}
		else {
			what = "the offered rate, or waiting: no processor is busy";
		}
		return String.format(Locale.ROOT,
				"%s (limiters and load %.2f, Redis %.2f, others %.2f of %d processors, %.0f %% stolen)", what,
				this.instance, this.redis, this.other, this.cores, 100 * this.stolen);
	}

}
