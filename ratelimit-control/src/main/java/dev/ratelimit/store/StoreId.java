package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Ids of stores. After a recovery the id names the ids it replaces, so that every
 * instance recognises the decision of the operator, whichever instance carried it out.
 */
final class StoreId {

	/** An instance that missed more recoveries needs a decision of its own. */
	private static final int MAX_NAMES = 16;

	private StoreId() {
	}

	static String next() {
		return UUID.randomUUID().toString();
	}

	static String replacing(List<String> ids) {
		Set<String> names = new LinkedHashSet<>(List.of(next()));
		// The newest names come first, so that the oldest are left out.
		ids.forEach((id) -> names.add(name(id)));
		ids.forEach((id) -> names.addAll(names(id)));
		List<String> kept = new ArrayList<>(names);
		kept.removeIf(String::isEmpty);
		return String.join(",", kept.subList(0, Math.min(MAX_NAMES, kept.size())));
	}

	/** Whether the id names the other one. */
	static boolean replaces(String id, String other) {
		return !name(id).equals(name(other)) && names(id).contains(name(other));
	}

	static String name(String id) {
		return names(id).get(0);
	}

	private static List<String> names(String id) {
		return Arrays.asList(id.split(",", -1));
	}

}
