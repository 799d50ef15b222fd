package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;

import dev.ratelimit.benchmarks.lab.LabFile;
import dev.ratelimit.benchmarks.lab.Table;

/** What a page says about the results of one command. */
final class Section {

	/** Columns of the commands that have results in a list: field and heading. */
	private static final Map<String, List<Column>> RESULTS = Map.of("peers",
			List.of(new Column("contender", "contender"), new Column("workload", "workload"),
					new Column("throughput", "checks/s"), new Column("p50Micros", "p50 µs"),
					new Column("p99Micros", "p99 µs"), new Column("p999Micros", "p99.9 µs"),
					new Column("clientCpuMicros", "client µs"), new Column("redisCpuMicros", "Redis µs")),
			"memory",
			List.of(new Column("name", "counter"), new Column("bytes", "bytes"), new Column("bound", "bound")), "jmh",
			List.of(new Column("name", "operation"), new Column("score", "score"), new Column("unit", "unit"),
					new Column("bytes", "bytes")),
			"grpc",
			List.of(new Column("id", "case"), new Column("throughput", "checks/s"), new Column("p50Micros", "p50 µs"),
					new Column("p99Micros", "p99 µs"), new Column("clientCpuMicros", "client µs"),
					new Column("serverCpuMicros", "server µs"), new Column("redisCpuMicros", "Redis µs")));

	private static final List<Column> ROUTES = List.of(new Column("route", "route"),
			new Column("throughput", "requests/s"), new Column("p50Micros", "p50 µs"),
			new Column("p99Micros", "p99 µs"), new Column("gatewayMicros", "gateway µs"),
			new Column("redisMicros", "Redis µs"), new Column("otherMicros", "other µs"));

	private Section() {
	}

	/** As Markdown, with the command that repeats it. */
	static String of(LabFile file) throws IOException {
		StringWriter text = new StringWriter();
		PrintWriter out = new PrintWriter(text);
		if (file.isLabResult()) {
			file.result().print(out);
			return text.toString().strip();
		}
		out.printf("`%s%s`, product `%s`%s.%n%n", file.command(), file.quick() ? " --quick" : "", file.product(),
				environment(file.content()));
		for (Table table : tables(file)) {
			table.print(out);
		}
		return text.toString().strip();
	}

	private static List<Table> tables(LabFile file) {
		JsonNode content = file.content();
		List<Table> tables = new ArrayList<>();
		List<Column> columns = RESULTS.get(file.command());
		switch (file.command()) {
			case "gateway" -> {
				tables.add(table("Routes:", ROUTES, content.path("routes")));
				tables.add(numbers("Cost:", content.path("cost"), content.path("costInterval")));
				tables.add(numbers("Share of the profile that is ours:", content.path("samples"),
						content.path("samplesInterval")));
			}
			case "recovery" -> {
				Table table = new Table("Below 99 % undegraded, " + content.path("through").asText() + ":",
						List.of("after", "seconds"));
				table.add("the start", content.path("startSeconds").asInt());
				table.add("the return of Redis", content.path("returnSeconds").asInt());
				tables.add(table);
			}
			default -> {
				if (columns == null) {
					throw new IllegalArgumentException("no table is known for the command '" + file.command() + "'");
				}
				tables.add(table("Results:", columns, content.path("results")));
				if (content.has("ratios")) {
					tables.add(numbers("Ratios:", content.path("ratios"), content.path("intervals")));
				}
			}
		}
		return tables;
	}

	private static Table table(String title, List<Column> columns, JsonNode rows) {
		Table table = new Table(title, columns.stream().map(Column::heading).toList());
		rows.forEach((row) -> table.add(columns.stream().map((column) -> text(row.path(column.field()))).toArray()));
		return table;
	}

	/** Numbers by name, with intervals as a list or as a median. */
	private static Table numbers(String title, JsonNode values, JsonNode intervals) {
		Table table = new Table(title, List.of("number", "measured", "95 % interval"));
		values.properties().forEach((value) -> {
			JsonNode interval = intervals.path(value.getKey());
			String range = interval.isArray() ? text(interval.path(0)) + " – " + text(interval.path(1))
					: interval.isObject() ? text(interval.path("low")) + " – " + text(interval.path("high")) : "";
			table.add("`" + value.getKey() + "`", text(value.getValue()), range);
		});
		return table;
	}

	private static String environment(JsonNode content) {
		JsonNode environment = content.path("environment");
		List<String> parts = new ArrayList<>();
		JsonNode redis = environment.has("redis") ? environment.path("redis") : content.path("redis");
		if (redis.isTextual()) {
			parts.add(redis.asText());
		}
		environment.path("parts").forEach((part) -> parts.add(part.asText()));
		if (environment.has("java")) {
			parts.add("Java " + environment.path("java").asText());
		}
		JsonNode cores = environment.has("cores") ? environment.path("cores") : content.path("cores");
		if (cores.isNumber()) {
			parts.add(cores.asText() + " cores");
		}
		return parts.isEmpty() ? "" : "; " + String.join(", ", parts);
	}

	private static String text(JsonNode value) {
		if (value.isMissingNode() || value.isNull()) {
			return "";
		}
		if (!value.isNumber()) {
			return value.asText();
		}
		double number = value.asDouble();
		int digits = (number == Math.rint(number) || Math.abs(number) >= 1_000) ? 0 : (Math.abs(number) >= 100) ? 1 : 2;
		return String.format(Locale.ROOT, "%,." + digits + "f", number);
	}

	private record Column(String field, String heading) {
	}

}
