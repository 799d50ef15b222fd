package dev.ratelimit.benchmarks.common;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

import com.sun.management.OperatingSystemMXBean;

/**
 * What the processors did: for this JVM and, on Linux, for everybody and for other
 * virtual machines on the same hardware. NaN where it is not known.
 *
 * @param ownSeconds processor time of this JVM
 * @param busy time that all processors worked, in ticks
 * @param stolen time in which others had a processor that was wanted here, in ticks
 * @param all time of all processors, in ticks
 */
public record Machine(double ownSeconds, double busy, double stolen, double all) {

	/** USER_HZ, which is 100 on every Linux. */
	private static final double TICKS_PER_SECOND = 100;

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	public static Machine now() {
		double own = SYSTEM.getProcessCpuTime() / 1e9;
		try {
			// cpu user nice system idle iowait irq softirq steal ...
			String[] fields = Files.readString(Path.of("/proc/stat")).lines().findFirst().orElseThrow().split(" +");
			double[] ticks = Arrays.stream(fields, 1, 9).mapToDouble(Double::parseDouble).toArray();
			double all = Arrays.stream(ticks).sum();
			return new Machine(own, all - ticks[3] - ticks[4] - ticks[7], ticks[7], all);
		}
		catch (IOException | RuntimeException ex) {
			return new Machine(own, Double.NaN, Double.NaN, Double.NaN);
		}
	}

	/**
	 * Processor time of all child processes that have ended, in seconds; NaN where it is
	 * not known.
	 */
	public static double endedChildrenSeconds() {
		try {
			String stat = Files.readString(Path.of("/proc/self/stat"));
			// After the name, which may contain blanks: the 14th and 15th field, in
			// ticks.
			String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
			return (Double.parseDouble(fields[13]) + Double.parseDouble(fields[14])) / TICKS_PER_SECOND;
		}
		catch (IOException | RuntimeException ex) {
			return Double.NaN;
		}
	}

	public static double loadAverage() {
		return SYSTEM.getSystemLoadAverage();
	}

	public static int cores() {
		return SYSTEM.getAvailableProcessors();
	}

	/** What results were measured on, for the output. */
	public static String describe(String redis) {
		return String.format(Locale.ROOT, "%s, Java %s, %d cores, load average %.1f", redis, Runtime.version(), cores(),
				loadAverage());
	}

	/** What happened since an earlier reading. */
	public Machine since(Machine earlier) {
		return new Machine(this.ownSeconds - earlier.ownSeconds, this.busy - earlier.busy, this.stolen - earlier.stolen,
				this.all - earlier.all);
	}

	/** What happened then and in another time. */
	public Machine plus(Machine other) {
		return new Machine(this.ownSeconds + other.ownSeconds, this.busy + other.busy, this.stolen + other.stolen,
				this.all + other.all);
	}

	/** How many processors worked for anybody. */
	public double busyCores() {
		return this.busy / this.all * cores();
	}

	public double stolenShare() {
		return this.stolen / this.all;
	}

}
