package dev.ratelimit.benchmarks.capacity;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a load needs. One limit counts by tenant, one by address, and the others by user
 * within the tenant, whose counters are in the tenant's slot.
 *
 * @param rps requests per second
 * @param limits of each request
 * @param tenants how many there are
 * @param enforcement "strict" or "adaptive"
 * @param instances of the gateway
 * @param checks per second that Redis decides one by one, of all limits
 * @param leases calls per second
 * @param redisCores processors that the shards use together
 * @param shards primaries, each with a replica
 * @param memoryBytes of all primaries together
 * @param networkBytes per second, of all primaries together
 * @param clients connections to each node
 * @param instanceCores processors that the limiter uses in all instances
 * @param dollarsPerMillion cost of a million requests
 * @param slotCores processors that the slot of the largest tenant uses
 * @param limitsAt requests per second at which each part is at its end; none for a part
 * that the number of requests does not fill
 */
record CapacityPlan(double rps, int limits, int tenants, String enforcement, long instances, double checks,
		double leases, double redisCores, long shards, double memoryBytes, double networkBytes, long clients,
		double instanceCores, double dollarsPerMillion, double slotCores, Map<String, Double> limitsAt) {

	static final String ADAPTIVE = "adaptive";

	static final String STRICT = "strict";

	/** Names of the parts, in the order in which they are shown. */
	static final List<String> PARTS = List.of("processor of the shards", "slot of the largest tenant",
			"busiest counter", "memory of a shard", "network of a shard", "maxclients of a node");

	static CapacityPlan of(double rps, int limits, int tenants, String enforcement, Numbers numbers) {
		Micros micros = Micros.of(numbers);
		double skew = numbers.value("skew");
		int callers = (int) numbers.value("callers");
		long instances = (long) Math.ceil(rps / numbers.value("instance-requests"));
		double leasesEach = Math.min(instances / numbers.value("lease-refresh-seconds"),
				numbers.value("lease-calls-per-second"));
		boolean adaptive = enforcement.equals(ADAPTIVE);
		double threshold = adaptive ? numbers.value("hot-threshold") : Double.MAX_VALUE;
		CentralLoad tenant = CentralLoad.of(rps, tenants, skew, threshold, leasesEach);
		CentralLoad caller = CentralLoad.of(rps, callers, skew, threshold, leasesEach);
		int others = limits - 1;
		double checks = tenant.checks() + others * caller.checks();
		double leases = tenant.leases() + others * caller.leases();
		double cores = (checks * micros.check() + leases * micros.call()) / 1e6;
		long shards = (long) Math.max(1, Math.ceil(cores / numbers.value("utilisation")));
		double memory = ((double) others * callers + tenants) * numbers.value("bytes-per-counter")
				* numbers.value("overhead");
		double network = (checks + leases) * numbers.value("wire-bytes");
		long clients = (long) (instances * numbers.value("connections"));
		// A request of the largest tenant has its users' counters in the tenant's slot.
		double users = Math.max(0, limits - 2) * caller.checks() / rps;
		double tenantChecks = (tenant.hottest() > threshold) ? 0 : tenant.hottest();
		double slot = (tenantChecks + users * tenant.hottest()) * micros.check() / 1e6;
		double busiest = Math.max(tenant.hottest(), caller.hottest()) * micros.check() / 1e6;
		double strictShare = checks / (limits * rps);
		double instanceCores = rps * (strictShare * numbers.value("strict-check-micros")
				+ (1 - strictShare) * numbers.value("leased-check-micros")) / 1e6;
		double dollars = (2 * shards + instanceCores) * numbers.value("core-hour-price") / (rps * 3_600 / 1e6);
		Map<String, Double> limitsAt = new LinkedHashMap<>();
		limitsAt.put(PARTS.get(0), rps * shards / cores);
		if (slot > 0) {
			limitsAt.put(PARTS.get(1), rps / slot);
		}
		if (!adaptive) {
			limitsAt.put(PARTS.get(2), rps / busiest);
		}
		if (memory / shards > numbers.value("node-bytes")) {
			limitsAt.put(PARTS.get(3), 0.0);
		}
		limitsAt.put(PARTS.get(4), rps * numbers.value("node-bandwidth") * shards / network);
		limitsAt.put(PARTS.get(5), rps * numbers.value("maxclients") / clients);
		return new CapacityPlan(rps, limits, tenants, enforcement, instances, checks, leases, cores, shards, memory,
				network, clients, instanceCores, dollars, slot, limitsAt);
	}

	/** The part that is at its end first. */
	String first() {
		return this.limitsAt.entrySet()
			.stream()
			.min(Comparator.comparingDouble(Map.Entry::getValue))
			.orElseThrow()
			.getKey();
	}

	/**
	 * Processor time of Redis.
	 *
	 * @param perMicro instructions that one Redis executes in a microsecond
	 * @param check microseconds of one limit of a check, in a call with others
	 * @param call microseconds of a call with one counter
	 */
	record Micros(double perMicro, double check, double call) {

		static Micros of(Numbers numbers) {
			double perMicro = numbers.value("instructions-one-limit") * numbers.value("strict-checks-per-second") / 1e6;
			return new Micros(perMicro, numbers.value("instructions-three-limits") / 3 / perMicro,
					numbers.value("instructions-lone-call") / perMicro);
		}

	}

}
