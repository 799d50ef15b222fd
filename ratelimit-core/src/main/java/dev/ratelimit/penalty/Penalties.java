package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Request;
import dev.ratelimit.background.Handoff;
import dev.ratelimit.counter.Counter;

/**
 * The penalties of callers as this instance knows them. A refusal that begins a cool-down
 * or a ban puts it in force here at once; {@link PenaltyExchange} shares it with the
 * fleet, if there is one.
 *
 * <p>
 * Nothing here blocks or calls Redis, no lock is shared by callers, and everything is
 * bounded: what is pushed out is a penalty that begins later or not at all.
 */
public final class Penalties {

	/** More than the fleet's list has, for bans that it has no room for. */
	private static final int MOST_HOLDS = 2 * PenaltyStore.MOST_BANS;

	private final PenaltyListener listener;

	private final Predicate<String> spared;

	private final LongSupplier nanos;

	private final Offenders offenders = new Offenders();

	private final Holds bans;

	private final Holds coolDowns;

	/** Callers to report to the fleet; {@code null} if there is no fleet. */
	private final @Nullable Handoff<Offender> reports;

	private volatile Runnable wake = () -> {
	};

	private final Unlisted unlisted = new Unlisted();

	private Penalties(PenaltyListener listener, Predicate<String> spared, LongSupplier nanos, boolean fleet) {
		this.listener = listener;
		this.spared = spared;
		this.nanos = nanos;
		this.bans = new Holds(MOST_HOLDS, nanos.getAsLong());
		this.coolDowns = new Holds(MOST_HOLDS, nanos.getAsLong());
		this.reports = fleet ? new Handoff<>(Offenders.MOST) : null;
	}

	/**
	 * The penalties of a single instance.
	 * @param listener sees each penalty that begins
	 * @param spared addresses that are never penalised
	 * @param nanos a monotonic clock
	 */
	public static Penalties local(PenaltyListener listener, Predicate<String> spared, LongSupplier nanos) {
		return new Penalties(listener, spared, nanos, false);
	}

	/**
	 * The penalties of one instance of a fleet, shared by a {@link PenaltyExchange}.
	 * @param listener sees each penalty that begins by a report of this instance
	 * @param spared addresses that are never penalised
	 * @param nanos a monotonic clock
	 */
	public static Penalties shared(PenaltyListener listener, Predicate<String> spared, LongSupplier nanos) {
		return new Penalties(listener, spared, nanos, true);
	}

	/**
	 * The longest cool-down or ban of a request, {@code null} if there is none. A request
	 * that a cool-down refuses is an offence like any other, unless it asks for no
	 * permits.
	 * @param counters the counters that the request would take permits from
	 */
	public @Nullable Held find(Penalty terms, Request request, List<Counter> counters) {
		if (this.bans.isEmpty() && this.coolDowns.isEmpty() && !this.unlisted.isPossible()) {
			return null;
		}
		long now = this.nanos.getAsLong();
		Held longest = null;
		for (int i = 0; i < counters.size(); i++) {
			Counter counter = counters.get(i);
			Hold hold = penalises(counter.spec().limit(), request) ? find(terms, counter, now) : null;
			if (hold != null) {
				longest = new Held(counter.spec().limit(), hold.ban(), micros(hold.left(now))).orLonger(longest);
			}
		}
		return (longest == null || longest.ban() || request.cost() == 0) ? longest
				: offended(terms, request, counters, longest, now);
	}

	/**
	 * Counts a request that cool-downs refuse: once for each limit, although a limit has
	 * two counters while its epoch turns.
	 */
	private Held offended(Penalty terms, Request request, List<Counter> counters, Held held, long now) {
		Held longest = held;
		Limit counted = null;
		for (Counter counter : counters) {
			Limit limit = counter.spec().limit();
			Hold hold = (limit != counted && penalises(limit, request)) ? this.coolDowns.find(counter.key(), now)
					: null;
			if (hold != null) {
				counted = limit;
				long left = count(terms, counter, hold.left(now), null, now);
				boolean banned = this.bans.find(counter.key(), now) != null;
				longest = new Held(limit, banned, micros(left)).orLonger(longest);
			}
		}
		return longest;
	}

	private @Nullable Hold find(Penalty terms, Counter counter, long now) {
		Hold ban = this.bans.find(counter.key(), now);
		Hold hold = (ban != null) ? ban : this.coolDowns.find(counter.key(), now);
		// A ban outlasts the counter, so it may be one of the previous epoch.
		Counter before = (hold == null) ? Offenders.before(counter, terms) : null;
		Hold earlier = (before != null) ? this.bans.find(before.key(), now) : null;
		hold = (earlier != null) ? earlier : hold;
		if (hold == null) {
			lookUp(counter, terms);
		}
		return hold;
	}

	/**
	 * Counts a refusal by a limit.
	 * @param waitMicros wait until the request fits, negative if it never does
	 * @param centralMicros when Redis refused, by its clock; negative if Redis did not
	 * answer this request
	 * @return the wait to announce in microseconds
	 */
	public long refused(Penalty terms, Request request, Counter counter, long waitMicros, long centralMicros) {
		long announced = Math.max(waitMicros, micros(Penalty.LEAST_WAIT.toNanos()));
		if (waitMicros < 0 || !penalises(counter.spec().limit(), request)) {
			return announced;
		}
		Conduct.Central central = (centralMicros >= 0 && this.reports != null)
				? new Conduct.Central(centralMicros, centralMicros + announced) : null;
		return micros(count(terms, counter, announced * 1_000, central, this.nanos.getAsLong()));
	}

	/**
	 * Counts a refusal, and puts what it begins in force.
	 * @return the wait to announce
	 */
	private long count(Penalty terms, Counter counter, long wait, Conduct.@Nullable Central central, long now) {
		Offender offender = this.offenders.get(counter, terms);
		long least = Math.max(wait, Penalty.LEAST_WAIT.toNanos());
		Conduct conduct = offender.refused(now, least, central, terms);
		boolean began = conduct.began() > 0;
		if (began) {
			hold(offender.key(), conduct.banned(), conduct.began(), false);
		}
		if (this.reports == null) {
			if (began) {
				began(offender.key(), conduct.banned());
			}
		}
		else if (!conduct.unsent().isNothing()) {
			report(offender, began);
		}
		return Math.max(least, conduct.began());
	}

	/** Asks for a ban that the fleet's list has no room for. */
	private void lookUp(Counter counter, Penalty terms) {
		if (this.unlisted.isPossible()) {
			report(this.offenders.get(counter, terms), false);
		}
	}

	private void report(Offender offender, boolean now) {
		if (this.reports != null && offender.queue() && !this.reports.offer(offender)) {
			offender.dequeue();
		}
		if (now) {
			this.wake.run();
		}
	}

	/**
	 * Whether refusals by a limit are the request's own. An IP that is not known to be
	 * the caller's, or one of our proxies, stands for many callers.
	 */
	private boolean penalises(Limit limit, Request request) {
		if (!limit.penalises()) {
			return false;
		}
		boolean byIp = limit.by().contains(Dimension.IP);
		for (int i = 0; i < limit.by().size() && !byIp; i++) {
			// The IP replaces a missing dimension.
			byIp = !request.dimensions().containsKey(limit.by().get(i));
		}
		String ip = byIp ? request.verified(Dimension.IP) : null;
		return !byIp || (ip != null && !this.spared.test(ip));
	}

	/**
	 * Bans that this instance knows, at most 20,000.
	 */
	public List<Ban> bans() {
		long now = this.nanos.getAsLong();
		return this.bans.all(now)
			.stream()
			.map((hold) -> new Ban(hold.caller(), Duration.ofNanos(hold.left(now))))
			.toList();
	}

	/**
	 * The counters of a caller under one limit, of this epoch and of the previous one, as
	 * far as this instance has seen its refusals.
	 */
	public Set<CallerKey> sameCaller(CallerKey caller) {
		return this.offenders.sameCaller(caller);
	}

	/**
	 * Number of bans that this instance knows.
	 */
	public int banned() {
		return this.bans.size(this.nanos.getAsLong());
	}

	/**
	 * Ends the cool-down or ban of a counter in this instance and forgets its offences.
	 */
	public void lift(String key) {
		this.bans.remove(key);
		this.coolDowns.remove(key);
		this.offenders.forget(key);
	}

	/**
	 * Ends all cool-downs and bans in this instance and forgets all offences.
	 */
	public void clear() {
		this.bans.clear();
		this.coolDowns.clear();
		this.offenders.clear();
	}

	/** Puts a cool-down or a ban in force. */
	void hold(CallerKey caller, boolean ban, long nanos, boolean listed) {
		long now = this.nanos.getAsLong();
		(ban ? this.bans : this.coolDowns).put(new Hold(caller, ban, now + nanos, listed), now);
	}

	void retainListed(Set<String> keys) {
		this.bans.retainListed(keys);
	}

	/** Keeps the bans of a list that was lost until their own end. */
	void keepUnlisted() {
		this.bans.keepUnlisted();
	}

	void began(CallerKey caller, boolean ban) {
		this.listener.began(caller.policy(), ban ? PenaltyListener.Kind.BAN : PenaltyListener.Kind.COOL_DOWN);
	}

	/** What waits to be reported. */
	List<Offender> reports() {
		List<Offender> offenders = (this.reports != null) ? this.reports.take() : List.of();
		offenders.forEach(Offender::dequeue);
		return offenders;
	}

	/** Reports it later. */
	void postpone(Offender offender) {
		report(offender, false);
	}

	void whenUrgent(Runnable wake) {
		this.wake = wake;
	}

	/** Whether callers are looked up. Asked in each turn, so that it ends. */
	boolean looksUp() {
		return this.unlisted.isPossible(now());
	}

	/** Looks up callers for some time: the fleet's list has no room for a ban. */
	void lookUp(long nanos) {
		this.unlisted.extend(now() + nanos);
	}

	long now() {
		return this.nanos.getAsLong();
	}

	/** Rounded up, so that nobody comes back too early. */
	static long micros(long nanos) {
		return (nanos + 999) / 1_000;
	}

	/**
	 * A cool-down or a ban that refuses a request.
	 *
	 * @param limit the limit whose counter it is for
	 * @param ban whether it is a ban
	 * @param waitMicros time until its end
	 */
	public record Held(Limit limit, boolean ban, long waitMicros) {

		/** This one, or one that is longer; a ban counts as longer than a cool-down. */
		private Held orLonger(@Nullable Held other) {
			return (other == null || this.ban && !other.ban
					|| this.ban == other.ban && this.waitMicros > other.waitMicros) ? this : other;
		}

	}

}
