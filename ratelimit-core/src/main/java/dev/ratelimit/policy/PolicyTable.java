package dev.ratelimit.policy;

import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Policies by id, in parts. Who changes a copy copies the part that the change is in and
 * shares the others, so that one edit costs the same hundredth of ten thousand policies
 * on every instance. Changed by its maker alone, and by nobody once it is handed on.
 */
final class PolicyTable {

	private static final int PARTS = 128;

	private final Map<String, PolicyVersions>[] parts;

	/** The parts that nobody else sees. */
	private final boolean[] own = new boolean[PARTS];

	private int size;

	/** How many have two versions in force. */
	private int compared;

	@SuppressWarnings({ "unchecked", "rawtypes" })
	PolicyTable() {
		this.parts = new Map[PARTS];
		Arrays.fill(this.parts, Map.of());
	}

	private PolicyTable(PolicyTable table) {
		this.parts = table.parts.clone();
		this.size = table.size;
		this.compared = table.compared;
	}

	static PolicyTable of(Collection<PolicyVersions> policies) {
		PolicyTable table = new PolicyTable();
		for (PolicyVersions versions : policies) {
			if (table.put(versions) != null) {
				throw new IllegalArgumentException("two policies are called '" + versions.newest().id() + "'");
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
		return count(own(place(versions.newest().id())).put(versions.newest().id(), versions), versions);
	}

	void remove(String id) {
		if (get(id) != null) {
			count(own(place(id)).remove(id), null);
		}
	}

	Stream<PolicyVersions> stream() {
		return Arrays.stream(this.parts).flatMap((part) -> part.values().stream());
	}

	/** A view. */
	Set<String> ids() {
		return new AbstractSet<>() {

			@Override
			public Iterator<String> iterator() {
				return PolicyTable.this.stream().map((versions) -> versions.newest().id()).iterator();
			}

			@Override
			public boolean contains(Object id) {
				return id instanceof String text && get(text) != null;
			}

			@Override
			public int size() {
				return PolicyTable.this.size;
			}

		};
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

	private @Nullable PolicyVersions count(@Nullable PolicyVersions before, @Nullable PolicyVersions after) {
		this.size += ((after != null) ? 1 : 0) - ((before != null) ? 1 : 0);
		this.compared += isCompared(after) - isCompared(before);
		return before;
	}

	private static int isCompared(@Nullable PolicyVersions versions) {
		return (versions != null && versions.comparison() != null) ? 1 : 0;
	}

	/** Other bits than those that the parts themselves go by. */
	private static int place(String id) {
		return (id.hashCode() * 0x9E3779B9) >>> 25;
	}

}
