package dev.ratelimit;

import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What is counted, and the quotas that apply to it, all of them at once.
 *
 * @param name unique within its policy
 * @param by dimensions to count by: each combination of their values has its own counter;
 * an empty list means one counter for the whole fleet
 * @param quotas 1 to 8, each with a window of a different length
 * @param enforcement where permits are taken, {@code null} for the policy's setting
 * @param split number of parts of a counter, 1 to 64; each part has its share of the
 * quotas, so that different Redis nodes can hold the parts
 */
public record Limit(String name, List<Dimension> by, List<Quota> quotas, @Nullable Enforcement enforcement, int split) {

	/** More quotas than this make one check too expensive for a shared Redis. */
	public static final int MAX_QUOTAS = 8;

	/** With more parts a request cannot try all of them within its deadline. */
	public static final int MAX_SPLIT = 64;

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
		requireSplit(name, quotas, split);
	}

	public Limit(String name, List<Dimension> by, List<Quota> quotas, @Nullable Enforcement enforcement) {
		this(name, by, quotas, enforcement, 1);
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
		return new Limit(this.name, this.by, quotas, this.enforcement, this.split);
	}

	/**
	 * The same limit with its counters in {@code split} parts.
	 */
	public Limit withSplit(int split) {
		return new Limit(this.name, this.by, this.quotas, this.enforcement, split);
	}

	/**
	 * Whether every quota has at least one permit for each part.
	 */
	public boolean fits(int parts) {
		try {
			requireSplit(this.name, this.quotas, parts);
			return true;
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	/**
	 * The limit with the share of one part.
	 * @param part index of the part, from 0
	 * @param parts number of parts
	 */
	public Limit part(int part, int parts) {
		return new Limit(this.name, this.by, this.quotas.stream().map((quota) -> quota.part(part, parts)).toList(),
				this.enforcement);
	}

	/**
	 * The scope in one word: the last dimension, or {@code global}.
	 */
	public String scope() {
		return this.by.isEmpty() ? "global" : this.by.get(this.by.size() - 1).name();
	}

	/**
	 * Whether its counters are of single callers, which can be penalised.
	 */
	public boolean penalises() {
		return this.by.contains(Dimension.USER) || this.by.contains(Dimension.API_KEY)
				|| this.by.contains(Dimension.IP);
	}

	/**
	 * The largest cost that fits. A request takes all its permits from one part, so the
	 * smallest burst of a part is the maximum.
	 */
	public long largestCost() {
		return this.quotas.stream()
			.mapToLong((quota) -> quota.part(this.split - 1, this.split).burst())
			.min()
			.orElseThrow();
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

	private static void requireSplit(String name, List<Quota> quotas, int split) {
		if (split < 1 || split > MAX_SPLIT) {
			throw new IllegalArgumentException(
					"limit '" + name + "': split must be 1 to " + MAX_SPLIT + " but was " + split);
		}
		for (Quota quota : quotas) {
			long least = Math.min(quota.permits(), quota.burst());
			if (least < split) {
				throw new IllegalArgumentException("limit '" + name + "': split was " + split + ", but quota '" + quota
						+ "' has only " + least + " permits for its parts; lower the split or raise the quota");
			}
			for (int part = 0; split > 1 && part < split; part++) {
				quota.part(part, split);
			}
		}
	}

}
