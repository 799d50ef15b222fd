package dev.ratelimit.benchmarks.lab;

import java.io.PrintWriter;
import java.util.List;

/**
 * The result of one part of the lab.
 *
 * @param title what was done
 * @param machine Redis, Java and processors
 * @param tables all numbers
 * @param verdicts on what is promised
 * @param bottleneck what limited the run, with the evidence; empty if it was not measured
 * @param notes what a reader has to know
 */
public record LabResult(String title, String machine, List<Table> tables, List<Verdict> verdicts, String bottleneck,
		List<String> notes) {

	/** Whether no bound on answers was broken. */
	public boolean passed() {
		return this.verdicts.stream().noneMatch(Verdict::broken);
	}

	/** As Markdown. */
	public void print(PrintWriter out) {
		out.printf("%n### %s%n%n%s.%s%n%n", this.title, this.machine,
				this.bottleneck.isEmpty() ? "" : " Limited by: " + this.bottleneck + ".");
		this.tables.forEach((table) -> table.print(out));
		if (!this.verdicts.isEmpty()) {
			Table verdicts = new Table("What is promised:", List.of("promise", "measured", ""));
			this.verdicts.forEach((verdict) -> verdicts.add(verdict.name(), verdict.measured(),
					verdict.broken() ? "**broken**" : verdict.result()));
			verdicts.print(out);
		}
		this.notes.forEach((note) -> out.println("- " + note));
		out.flush();
	}

}
