package dev.ratelimit;

import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What is counted and the quotas that hold on it, all of them at once.
 *
 * @param name unique within its policy
 * @param by dimensions whose values share a counter; none is one counter for the whole
 * fleet
 * @param quotas at least one, each with a window of its own length
 * @param enforcement where its permits are taken, {@code null} for where the policy says
 */
public record Limit(String name, List<Dimension> by, List<Quota> quotas, @Nullable Enforcement enforcement) {

	/** More quotas than this make one check too expensive for a shared Redis. */
	public static final int MAX_QUOTAS = 8;

	private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

	public Limit {
		if (!NAME.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"limit '" + name + "': a name is 1 to 63 lower-case letters, digits, dots, dashes and underscores");
		}
		by = List.copyOf(by);
		quotas = List.copyOf(quotas);
		if (new HashSet<>(by).size() != by.size()) {
			throw new IllegalArgumentException("limit '" + name + "': names a dimension twice in " + by);
		}
		requireQuotas(name, quotas);
	}

	public Limit(String name, List<Dimension> by, List<Quota> quotas) {
		this(name, by, quotas, null);
	}

	public static Limit of(String name, List<Dimension> by, String... quotas) {
		return new Limit(name, by, List.of(quotas).stream().map(Quota::parse).toList());
	}

	/**
	 * The same limit with other quotas, as a tier or an override gives it.
	 */
	public Limit withQuotas(List<Quota> quotas) {
		return new Limit(this.name, this.by, quotas, this.enforcement);
	}

	/**
	 * What the limit is about, in one word: its last dimension, or {@code global}.
	 */
	public String scope() {
		return this.by.isEmpty() ? "global" : this.by.get(this.by.size() - 1).name();
	}

	/**
	 * The largest cost that can ever be admitted.
	 */
	public long largestCost() {
		return this.quotas.stream().mapToLong(Quota::burst).min().orElseThrow();
	}

	private static void requireQuotas(String name, List<Quota> quotas) {
		if (quotas.isEmpty() || quotas.size() > MAX_QUOTAS) {
			throw new IllegalArgumentException(
					"limit '" + name + "': needs 1 to " + MAX_QUOTAS + " quotas but has " + quotas.size());
		}
		if (quotas.stream().map(Quota::window).distinct().count() != quotas.size()) {
			throw new IllegalArgumentException(
					"limit '" + name + "': two quotas have the same window, keep the smaller of them in " + quotas);
		}
	}

}
