package dev.ratelimit.autoconfigure;

import java.util.Comparator;
import java.util.Set;

/**
 * The failure for a name that is no policy's, with the nearest one that is.
 */
final class UnknownPolicy {

	private UnknownPolicy() {
	}

	static InvalidPolicyException failure(String where, String id, Set<String> ids) {
		String nearest = ids.stream().min(Comparator.comparingInt((known) -> distance(id, known))).orElse(null);
		return new InvalidPolicyException(where + " names policy '" + id + "', which does not exist.",
				((nearest != null) ? "Did you mean '" + nearest + "'? " : "")
						+ "Use a policy under 'ratelimit.policies', or add 'ratelimit.policies." + id + "'.");
	}

	/** Single characters to insert, delete or replace to make one text of the other. */
	static int distance(String one, String other) {
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
