package dev.ratelimit.app.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What a case measured: a block for the one who reads the build's output, and for each
 * policy a row of {@code target/fault-report.md} for {@code docs/failure-modes.md}.
 * Latencies are those of the decision, in milliseconds: p50, p99 and the longest.
 */
record FaultReport(FaultCase fault) {

	private static final Path FILE = Path.of("target", "fault-report.md");

	private static final List<Phase> PHASES = List.of(Phase.BEFORE, Phase.DURING, Phase.AFTER);

	private static final String HEADER = """
			| fault | policy | gateways × calls/s | sent | admitted | refused | degraded | 5xx | failed | before ms | \
			during, closed ms | during, open ms | after ms | open after s | enforced again after s | heap MB |
			|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
			""";

	/** Bytes in use after a full collection, so that two of them can be compared. */
	static long heapAfterCollection() {
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	void publish() {
		System.out.print(block());
		try {
			Files.createDirectories(FILE.getParent());
			String header = Files.exists(FILE) ? "" : HEADER;
			String rows = policies().stream().map(this::row).collect(Collectors.joining());
			Files.writeString(FILE, header + rows, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String block() {
		String lines = policies().stream()
			.flatMap((policy) -> PHASES.stream().map((phase) -> line(policy, phase)))
			.collect(Collectors.joining());
		String whileOpen = text(this.fault.decisions().latencies(Phase.DURING, (kind) -> kind.breakerOpen()));
		return format("""

				%s
				  %d gateway(s), %d calls/s
				  %-11s %-7s %7s %8s %8s %8s %6s %6s %6s %8s %8s %8s %8s
				%s  while open: %s ms    open after %s s    enforced again after %s s    heap %d -> %d MB
				  leases decided %d during, the last after %s s
				  this machine stalled for up to %s ms
				""", this.fault.fault(), this.fault.gateways().size(), load().rate(), "policy", "phase", "sent",
				"admitted", "refused", "degraded", "5xx", "failed", "unsent", "p50 ms", "p99 ms", "max ms", "HTTP p99",
				lines, whileOpen, seconds(this.fault.opened()), seconds(this.fault.recovered()),
				megabytes(this.fault.heapBefore()), megabytes(this.fault.heapAfter()),
				this.fault.decisions().count(Phase.DURING, Decisions.Kind::leased),
				seconds(this.fault.decisions().last(Phase.DURING, Decisions.Kind::leased)), stalls());
	}

	private String line(String policy, Phase phase) {
		Calls calls = load().calls(phase, policy);
		Latencies latencies = latencies(phase, policy, (kind) -> true);
		return format("  %-11s %-7s %7d %8d %8d %8d %6d %6d %6d %8.3f %8.3f %8.3f %8.3f%n", policy, phase, calls.sent(),
				calls.admitted(), calls.refused(), degraded(phase, policy), calls.serverErrors(), calls.failures(),
				calls.notSent(), millis(latencies.percentile(50)), millis(latencies.percentile(99)),
				millis(latencies.max()), millis(calls.latencies().percentile(99)));
	}

	private String row(String policy) {
		return format("| %s | %s | %d × %d | %d | %d | %d | %d | %d | %d | %s | %s | %s | %s | %s | %s | %d → %d |%n",
				this.fault.fault(), policy, this.fault.gateways().size(), load().rate(),
				load().total(policy, Calls::sent), load().total(policy, Calls::admitted),
				load().total(policy, Calls::refused),
				PHASES.stream().mapToLong((phase) -> degraded(phase, policy)).sum(),
				load().total(policy, Calls::serverErrors), load().total(policy, Calls::failures),
				closed(Phase.BEFORE, policy), closed(Phase.DURING, policy),
				text(latencies(Phase.DURING, policy, Decisions.Kind::breakerOpen)), closed(Phase.AFTER, policy),
				seconds(this.fault.opened()), seconds(this.fault.recovered()), megabytes(this.fault.heapBefore()),
				megabytes(this.fault.heapAfter()));
	}

	private String stalls() {
		return PHASES.stream()
			.map((phase) -> format("%.0f (%s)", millis(this.fault.stalls().longest(phase)), phase))
			.collect(Collectors.joining(", "));
	}

	private OpenLoopLoad load() {
		return this.fault.calls();
	}

	private List<String> policies() {
		return load().policies();
	}

	private long degraded(Phase phase, String policy) {
		return this.fault.decisions().count(phase, (kind) -> kind.policy().equals(policy) && kind.degraded());
	}

	private String closed(Phase phase, String policy) {
		return text(latencies(phase, policy, Decisions.Kind::breakerClosed));
	}

	private Latencies latencies(Phase phase, String policy, Predicate<Decisions.Kind> kinds) {
		return this.fault.decisions().latencies(phase, kinds.and((kind) -> kind.policy().equals(policy)));
	}

	private static String text(Latencies latencies) {
		return (latencies.count() == 0) ? "–" : format("%.2f / %.2f / %.2f", millis(latencies.percentile(50)),
				millis(latencies.percentile(99)), millis(latencies.max()));
	}

	private static String seconds(Optional<Duration> duration) {
		return duration.map((found) -> format("%.2f", found.toNanos() / 1e9)).orElse("–");
	}

	private static double millis(Duration duration) {
		return duration.toNanos() / 1e6;
	}

	private static long megabytes(long bytes) {
		return bytes >> 20;
	}

	private static String format(String format, Object... arguments) {
		return String.format(Locale.ROOT, format, arguments);
	}

}
