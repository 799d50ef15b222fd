package dev.ratelimit.policy;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Policies by id, in 128 parts. A change in a copy of the table copies one part and
 * shares the others, so one edit among 10,000 policies copies about 80. Only the creator
 * changes a table, and only before other threads see it.
 */
final class PolicyTable {

	private static final int PARTS = 128;

	private final Map<String, PolicyVersions>[] parts;

	/** The parts that this table does not share. */
	private final boolean[] own = new boolean[PARTS];

	/** Ids of removed policies that still decide the requests that name them. */
	private final Set<String> retired = new HashSet<>();

	/** Number of policies with two versions in force. */
	private int compared;

	@SuppressWarnings({ "unchecked", "rawtypes" })
	PolicyTable() {
		this.parts = new Map[PARTS];
		Arrays.fill(this.parts, Map.of());
	}

	private PolicyTable(PolicyTable table) {
		this.parts = table.parts.clone();
		this.retired.addAll(table.retired);
		this.compared = table.compared;
	}

	static PolicyTable of(Collection<PolicyVersions> policies) {
		PolicyTable table = new PolicyTable();
		for (PolicyVersions versions : policies) {
			if (table.put(versions) != null) {
				throw new IllegalArgumentException("two policies have the id '" + versions.newest().id() + "'");
			}
		}
		return table;
	}

	PolicyTable copy() {
		return new PolicyTable(this);
	}

	@Nullable PolicyVersions get(String id) {
		return this.parts[place(id)].get(id);
	}

	@Nullable PolicyVersions put(PolicyVersions versions) {
		String id = versions.newest().id();
		this.retired.remove(id);
		PolicyVersions before = own(place(id)).put(id, versions);
		this.compared += isCompared(versions) - isCompared(before);
		return before;
	}

	void retire(String id) {
		if (get(id) != null) {
			this.retired.add(id);
		}
	}

	Set<String> retired() {
		return this.retired;
	}

	Stream<PolicyVersions> stream() {
		return Arrays.stream(this.parts).flatMap((part) -> part.values().stream());
	}

	/** Whether any policy has two versions in force. */
	boolean comparing() {
		return this.compared > 0;
	}

	private Map<String, PolicyVersions> own(int place) {
		if (!this.own[place]) {
			this.parts[place] = new HashMap<>(this.parts[place]);
			this.own[place] = true;
		}
		return this.parts[place];
	}

	private static int isCompared(@Nullable PolicyVersions versions) {
		return (versions != null && versions.comparison() != null) ? 1 : 0;
	}

	/** Uses other bits than the hash maps of the parts do. */
	private static int place(String id) {
		return (id.hashCode() * 0x9E3779B9) >>> 25;
	}

}
