package dev.ratelimit.counter;

/**
 * How many permits to take: as many whole multiples of {@code unit} as fit, at most
 * {@code most}, and nothing at all if that is less than {@code least}.
 *
 * @param unit smallest number that is granted at once
 * @param least smallest number that is accepted
 * @param most largest number wanted; 0 only reads
 * @param debt how many of them may be missing and are then owed
 */
public record Permits(long unit, long least, long most, long debt) {

	/** Takes nothing and reads the state. */
	public static final Permits NONE = new Permits(0, 0, 0);

	private static final Permits ONE = new Permits(1, 1, 1);

	public Permits {
		if (unit < 0 || least < unit || most < least || (unit == 0 && most > 0) || debt < 0) {
			throw new IllegalArgumentException(
					"cannot take " + least + " to " + most + " permits in multiples of " + unit);
		}
	}

	public Permits(long unit, long least, long most) {
		this(unit, least, most, 0);
	}

	/**
	 * This many or none.
	 */
	public static Permits exactly(long cost) {
		return (cost == 1) ? ONE : (cost == 0) ? NONE : new Permits(cost, cost, cost);
	}

	/**
	 * As many as are available, within bounds.
	 */
	public static Permits between(long least, long most) {
		return (least == most) ? exactly(most) : new Permits(1, least, most);
	}

	/**
	 * This many or none, where a full counter admits a cost above its burst and is owed
	 * the rest.
	 * @param burst burst of the smallest counter
	 */
	public static Permits owing(long cost, long burst) {
		return (cost <= burst) ? exactly(cost) : new Permits(cost, cost, cost, cost - burst);
	}

	/**
	 * How many of the available permits to take.
	 */
	public long of(long available) {
		if (this.unit == 0) {
			return 0;
		}
		long taken = Math.min(this.most, available + this.debt);
		taken -= taken % this.unit;
		return (taken >= this.least) ? taken : 0;
	}

}
