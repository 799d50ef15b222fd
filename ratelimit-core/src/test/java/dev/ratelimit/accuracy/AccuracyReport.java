package dev.ratelimit.accuracy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.ratelimit.Enforcement;

/**
 * Both sides of the error, for the one who reads the build's output and for
 * {@code docs/policies.md}: a row for each enforcement and size of the fleet.
 */
record AccuracyReport(List<Outcome> outcomes) {

	private static final Path FILE = Path.of("target", "accuracy-report.md");

	private static final String HEADER = """
			| enforcement | instances | checks | admitted by leases | most above burst + rate × T | refused, within the limit | \
			got, above the limit | got of 500 a month |
			|---|---|---|---|---|---|---|---|
			""";

	void publish() {
		String table = HEADER + Stream.of(Enforcement.values())
			.flatMap((enforcement) -> this.outcomes.stream()
				.map(Outcome::instances)
				.distinct()
				.map((instances) -> row(enforcement, instances)))
			.collect(Collectors.joining());
		System.out.printf("%n%s%n", table);
		try {
			Files.writeString(FILE, table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private String row(Enforcement enforcement, int instances) {
		AccuracyReport row = new AccuracyReport(this.outcomes.stream()
			.filter((outcome) -> outcome.enforcement() == enforcement && outcome.instances() == instances)
			.toList());
		AccuracyReport within = row.of(Caller::within);
		Outcome above = row.of(Caller.ABOVE::equals).outcomes().get(0);
		Outcome draining = row.of(Caller.DRAINING::equals).outcomes().get(0);
		return String.format(Locale.ROOT, "| `%s` | %d | %d | %.0f %% | %s | %d of %d | %.1f %% | %d |%n",
				enforcement.name().toLowerCase(Locale.ROOT), instances, row.asked(),
				100.0 * row.sum(Outcome::leased) / row.sum(Outcome::admitted), row.excess(),
				within.sum(Outcome::refused), within.asked(), 100 * above.share(), draining.admitted());
	}

	private AccuracyReport of(Predicate<Caller> callers) {
		return new AccuracyReport(this.outcomes.stream().filter((outcome) -> callers.test(outcome.caller())).toList());
	}

	private long sum(ToLongFunction<Outcome> number) {
		return this.outcomes.stream().mapToLong(number).sum();
	}

	private long asked() {
		return sum(Outcome::asked);
	}

	/** A whole permit, or nothing: fractions are what has not come back yet. */
	private String excess() {
		double most = this.outcomes.stream().mapToDouble(Outcome::excess).max().orElseThrow();
		return (most < 1) ? "0" : String.format(Locale.ROOT, "%.0f", most);
	}

}
