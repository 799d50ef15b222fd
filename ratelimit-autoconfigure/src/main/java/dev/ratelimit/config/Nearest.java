package dev.ratelimit.config;

import java.util.Collection;
import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * Finds the known name that is most similar to an unknown one.
 */
public final class Nearest {

	/** Fewer characters begin too many names. */
	private static final int SHORTEST_BEGINNING = 3;

	private Nearest() {
	}

	/**
	 * The candidate with the fewest differences, {@code null} without candidates. Of
	 * several it is the one with the most similar length, then the first by name.
	 */
	public static @Nullable String of(String name, Collection<String> candidates) {
		return candidates.stream()
			.min(Comparator.comparingInt((String known) -> distance(name, known))
				.thenComparingInt((known) -> Math.abs(known.length() - name.length()))
				.thenComparing(Comparator.naturalOrder()))
			.orElse(null);
	}

	/**
	 * Single characters to insert, delete or replace to make one text of the other. A
	 * name that was not written to its end differs by one.
	 */
	static int distance(String one, String other) {
		if (one.length() >= SHORTEST_BEGINNING && other.startsWith(one) && !other.equals(one)) {
			return 1;
		}
		int[] row = new int[other.length() + 1];
		for (int j = 0; j <= other.length(); j++) {
			row[j] = j;
		}
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
			}
		}
		return row[other.length()];
	}

}
