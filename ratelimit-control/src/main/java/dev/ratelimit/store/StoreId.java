package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Tells a store that an operator has set right from one that has lost something: after
 * the decision its id names those that it takes the place of. So all instances know of
 * it, whichever was told.
 */
final class StoreId {

	/** Who missed more decisions than this is asked for one again. */
	private static final int MAX_NAMES = 16;

	private StoreId() {
	}

	/** One that takes the place of nothing. */
	static String next() {
		return UUID.randomUUID().toString();
	}

	/** One that takes the place of these. */
	static String replacing(List<String> ids) {
		Set<String> names = new LinkedHashSet<>(List.of(next()));
		// The newest names of each come first, so that the oldest are left out.
		ids.forEach((id) -> names.add(name(id)));
		ids.forEach((id) -> names.addAll(names(id)));
		List<String> kept = new ArrayList<>(names);
		kept.removeIf(String::isEmpty);
		return String.join(",", kept.subList(0, Math.min(MAX_NAMES, kept.size())));
	}

	/** Whether a store with this id takes the place of the other one. */
	static boolean replaces(String id, String other) {
		return !name(id).equals(name(other)) && names(id).contains(name(other));
	}

	private static String name(String id) {
		return names(id).get(0);
	}

	private static List<String> names(String id) {
		return Arrays.asList(id.split(",", -1));
	}

}
