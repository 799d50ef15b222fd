package dev.ratelimit.benchmarks.capacity;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Plans for several loads, with the arithmetic of one.
 *
 * @param numbers what they are computed from
 * @param measuredHere whether some were measured on this machine
 * @param plan whose arithmetic is shown
 * @param rows further loads
 */
record PlanReport(Map<String, Numbers.Figure> numbers, boolean measuredHere, CapacityPlan plan,
		List<CapacityPlan> rows) {

	void print(PrintWriter out) {
		out.println(this.measuredHere ? "Computed from the results of this machine where there are some."
				: "Computed from the numbers in the documentation: there are no results of this machine.");
		out.println();
		printNumbers(out);
		out.println();
		printArithmetic(out);
		out.println();
		printRows(out);
		out.println();
		printFirst(out);
		out.flush();
	}

	private void printNumbers(PrintWriter out) {
		out.println("| number | value | kind | what | source |");
		out.println("|---|---:|---|---|---|");
		this.numbers.forEach((name, number) -> out.printf("| `%s` | %s | %s | %s | %s |%n", name, text(number.value()),
				number.kind(), number.text(), (number.source() != null) ? number.source() : ""));
	}

	private void printArithmetic(PrintWriter out) {
		CapacityPlan plan = this.plan;
		CapacityPlan.Micros micros = CapacityPlan.Micros.of(new Numbers(this.numbers));
		out.printf(Locale.ROOT, "%s requests/s with %d limits and %s tenants, `%s`:%n%n", text(plan.rps()),
				plan.limits(), text(plan.tenants()), plan.enforcement());
		line(out, "Redis executes %s × %s ÷ 1,000,000 = %,.0f instructions in a µs.", number("instructions-one-limit"),
				number("strict-checks-per-second"), micros.perMicro());
		line(out, "One limit of a check takes it %s ÷ 3 ÷ %,.0f = %.1f µs, a lease call %s ÷ %,.0f = %.1f µs.",
				number("instructions-three-limits"), micros.perMicro(), micros.check(),
				number("instructions-lone-call"), micros.perMicro(), micros.call());
		line(out, "Instances: %s ÷ %s = %,d.", text(plan.rps()), number("instance-requests"), plan.instances());
		line(out,
				"Redis decides %,.0f of %,.0f counters a second one by one; the others are above `hot-threshold` and need %,.0f lease calls a second.",
				plan.checks(), plan.rps() * plan.limits(), plan.leases());
		line(out, "Processors of Redis: (%,.0f × %.1f + %,.0f × %.1f) ÷ 1,000,000 = %.1f.", plan.checks(),
				micros.check(), plan.leases(), micros.call(), plan.redisCores());
		line(out,
				"The slot of the largest tenant, with the counters of its users, takes %.2f processors of one shard%s.",
				plan.slotCores(), (plan.slotCores() > new Numbers(this.numbers).value("utilisation"))
						? ": more than `utilisation`, so count users without the tenant" : "");
		line(out, "Shards: %.1f ÷ %s = %,d, each with a replica.", plan.redisCores(), number("utilisation"),
				plan.shards());
		line(out, "Memory: (%d × %s + %s) × %s × %s = %.1f GB in all, %.2f GB per shard.", plan.limits() - 1,
				number("callers"), text(plan.tenants()), number("bytes-per-counter"), number("overhead"),
				plan.memoryBytes() / 1e9, plan.memoryBytes() / 1e9 / plan.shards());
		line(out, "Network: (%,.0f + %,.0f) × %s = %,.0f MB/s in all, %,.1f MB/s per shard.", plan.checks(),
				plan.leases(), number("wire-bytes"), plan.networkBytes() / 1e6,
				plan.networkBytes() / 1e6 / plan.shards());
		line(out, "Connections to each node: %,d × %s = %,d; set `maxclients` to at least twice that, for deployments.",
				plan.instances(), number("connections"), plan.clients());
		line(out, "The limiter uses %.1f processors in all instances together.", plan.instanceCores());
		line(out, "A million requests cost (2 × %,d + %.1f) × %s ÷ (%s × 3,600 ÷ 1,000,000) = $%.5f.", plan.shards(),
				plan.instanceCores(), number("core-hour-price"), text(plan.rps()), plan.dollarsPerMillion());
	}

	private static void line(PrintWriter out, String format, Object... arguments) {
		out.printf(Locale.ROOT, "- " + format + "%n", arguments);
	}

	private void printRows(PrintWriter out) {
		out.println(
				"| requests/s | enforcement | instances | decided by Redis, /s | lease calls, /s | shards | memory in all | network per shard | connections to a node | $ per million |");
		out.println("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
		for (CapacityPlan row : this.rows) {
			out.printf(Locale.ROOT, "| %s | %s | %,d | %,.0f | %,.0f | %,d | %.1f GB | %,.1f MB/s | %,d | %.5f |%n",
					text(row.rps()), row.enforcement(), row.instances(), row.checks(), row.leases(), row.shards(),
					row.memoryBytes() / 1e9, row.networkBytes() / 1e6 / row.shards(), row.clients(),
					row.dollarsPerMillion());
		}
	}

	private void printFirst(PrintWriter out) {
		out.println("Requests/s at which each part of a plan is at its end, and the first one in bold:");
		out.println();
		out.println("| planned for | enforcement | " + String.join(" | ", CapacityPlan.PARTS) + " |");
		out.println("|---:|---|" + "---:|".repeat(CapacityPlan.PARTS.size()));
		for (CapacityPlan row : this.rows) {
			out.printf("| %s | %s |", text(row.rps()), row.enforcement());
			String first = row.first();
			for (String part : CapacityPlan.PARTS) {
				Double rps = row.limitsAt().get(part);
				String text = (rps == null) ? "–" : (rps == 0) ? "too small" : text(rounded(rps));
				out.print(part.equals(first) ? " **" + text + "** |" : " " + text + " |");
			}
			out.println();
		}
	}

	private String number(String name) {
		return text(new Numbers(this.numbers).value(name));
	}

	/** Two digits that count: the rest would promise too much. */
	private static double rounded(double value) {
		double unit = Math.pow(10, Math.floor(Math.log10(value)) - 1);
		return Math.round(value / unit) * unit;
	}

	private static String text(double value) {
		return (value == Math.rint(value)) ? String.format(Locale.ROOT, "%,.0f", value)
				: String.format(Locale.ROOT, "%s", Math.round(value * 1e4) / 1e4);
	}

}
