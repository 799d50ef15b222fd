package dev.ratelimit.benchmarks.million;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.TimeLeft;
import dev.ratelimit.benchmarks.lab.LabFolder;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Usage;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.benchmarks.load.Callers;
import dev.ratelimit.benchmarks.load.RampedLoad;
import dev.ratelimit.benchmarks.load.Tally;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * A load that is held for a while, after a ramp.
 *
 * @param ramp seconds that it grows
 * @param seconds every one of the run, the ramp included
 * @param samples taken each second
 * @param latencies of some of the checks
 * @param used by whom the processors were used
 */
record Hold(int ramp, List<RampedLoad.Second> seconds, List<Sample> samples, Tally latencies, Usage used) {

	private static final double MEGABYTE = 1e6;

	/** Memory may differ by so much between the thirds of a run, in bytes. */
	private static final double NOISE = 16 * MEGABYTE;

	private static final double FLAT = 0.1;

	/** In so many seconds the heap is collected again and again. */
	private static final int COLLECTED = 60;

	static Hold run(String name, MeasuredRedis redis, Ours limiter, Callers callers, int threads, double rate, int ramp,
			int seconds) throws Exception {
		limiter.awaitUndegraded(0);
		RampedLoad load = new RampedLoad(limiter, callers, threads, RampedLoad.Rate.ramp(rate, ramp));
		List<Sample> samples = new ArrayList<>();
		TimeLeft left = new TimeLeft(name, seconds);
		Machine before = Machine.now();
		double redisBefore = redis.cpuSeconds();
		List<RampedLoad.Second> result = load.run(seconds, (start) -> {
			for (int second = 1; second <= seconds; second++) {
				long due = start + second * 1_000_000_000L;
				for (long ahead = due - System.nanoTime(); ahead > 0; ahead = due - System.nanoTime()) {
					LockSupport.parkNanos(ahead);
				}
				samples.add(Sample.of(redis, limiter));
				left.at(second);
			}
		});
		Machine machine = Machine.now().since(before);
		Usage used = Usage.of(machine, machine.ownSeconds(), redis.cpuSeconds() - redisBefore, seconds);
		return new Hold(ramp, result, samples, load.latencies(), used);
	}

	private List<RampedLoad.Second> held() {
		return this.seconds.subList(this.ramp, this.seconds.size());
	}

	/** Decisions of the counters per second, after the ramp. */
	double decidedPerSecond() {
		return held().stream().mapToLong(RampedLoad.Second::decided).average().orElse(0);
	}

	/** The fewest decisions of the counters in a second, after the ramp. */
	long worstSecond() {
		return held().stream().mapToLong(RampedLoad.Second::decided).min().orElse(0);
	}

	double undegraded() {
		long sent = held().stream().mapToLong(RampedLoad.Second::sent).sum();
		return (sent == 0) ? 0 : (double) held().stream().mapToLong(RampedLoad.Second::decided).sum() / sent;
	}

	/** Whether nearly all that was due was sent and decided by counters. */
	boolean keptUp(double rate) {
		return decidedPerSecond() >= 0.97 * rate && undegraded() >= 0.99;
	}

	Table table(String title) {
		Table table = new Table(title, List.of("after", "decisions/s", "undegraded", "refused/s", "keys in Redis",
				"Redis MB", "local counters", "heap MB"));
		int every = Math.max(1, this.seconds.size() / 10);
		for (int second = every; second <= this.seconds.size(); second += every) {
			RampedLoad.Second of = this.seconds.get(second - 1);
			Sample sample = this.samples.get(second - 1);
			table.add(second + " s", String.format("%,d", of.decided()),
					String.format(Locale.ROOT, "%.2f %%", 100 * of.undegraded()), String.format("%,d", of.refused()),
					String.format("%,d", sample.keys()),
					String.format(Locale.ROOT, "%.1f", sample.redisBytes() / MEGABYTE),
					String.format("%,d", sample.localCounters()),
					String.format(Locale.ROOT, "%.0f", sample.heapBytes() / MEGABYTE));
		}
		return table;
	}

	/**
	 * Whether memory stays where it is: the smallest value of the last third of the time
	 * after the ramp is not much larger than the one of the first third.
	 */
	List<Verdict> flat() {
		String heap = "heap of the instance stays flat";
		return List.of(flat("memory of Redis stays flat", Sample::redisBytes),
				(held().size() >= COLLECTED) ? flat(heap, Sample::heapBytes)
						: Verdict.unresolvable(heap, "too short for a collection in each third"));
	}

	private Verdict flat(String name, ToLongFunction<Sample> bytes) {
		List<Sample> after = this.samples.subList(this.ramp, this.samples.size());
		int third = Math.max(1, after.size() / 3);
		double first = smallest(after.subList(0, third), bytes);
		double last = smallest(after.subList(after.size() - third, after.size()), bytes);
		return Verdict.bound(name, last <= first * (1 + FLAT) + NOISE, String.format(Locale.ROOT,
				"%.1f MB in the first third, %.1f MB in the last", first / MEGABYTE, last / MEGABYTE));
	}

	private static double smallest(List<Sample> samples, ToLongFunction<Sample> bytes) {
		return samples.stream().mapToLong(bytes).min().orElseThrow();
	}

	/** Keeps plots and latencies. */
	void write(LabFolder folder, String name) throws IOException {
		new Plot(name, "seconds", "per second").line("decided", points((i) -> this.seconds.get(i).decided()))
			.line("sent", points((i) -> this.seconds.get(i).sent()))
			.write(folder.file(name + ".svg"));
		new Plot(name, "seconds", "MB")
			.line("Redis", points((i) -> (long) (this.samples.get(i).redisBytes() / MEGABYTE)))
			.line("heap", points((i) -> (long) (this.samples.get(i).heapBytes() / MEGABYTE)))
			.write(folder.file(name + "-memory.svg"));
		this.latencies.writeLog(folder.file(name + ".hlog").toFile());
	}

	private List<double[]> points(ToLongFunction<Integer> value) {
		List<double[]> points = new ArrayList<>();
		for (int i = 0; i < this.samples.size(); i++) {
			points.add(new double[] { i + 1, value.applyAsLong(i) });
		}
		return points;
	}

}
