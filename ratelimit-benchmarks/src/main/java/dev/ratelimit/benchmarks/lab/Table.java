package dev.ratelimit.benchmarks.lab;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * A table of a result, ready to be shown.
 *
 * @param title a sentence
 * @param columns names
 * @param rows cells, as many in each as there are columns
 */
public record Table(String title, List<String> columns, List<List<String>> rows) {

	public Table(String title, List<String> columns) {
		this(title, columns, new ArrayList<>());
	}

	/** Adds a row. */
	public void add(Object... cells) {
		if (cells.length != this.columns.size()) {
			throw new IllegalArgumentException(cells.length + " cells for " + this.columns.size() + " columns");
		}
		List<String> row = new ArrayList<>();
		for (Object cell : cells) {
			row.add(String.valueOf(cell));
		}
		this.rows.add(row);
	}

	/** As Markdown. */
	public void print(PrintWriter out) {
		out.println(this.title);
		out.println();
		out.println("| " + String.join(" | ", this.columns) + " |");
		out.println("|" + "---|".repeat(this.columns.size()));
		this.rows.forEach((row) -> out.println("| " + String.join(" | ", row) + " |"));
		out.println();
	}

}
