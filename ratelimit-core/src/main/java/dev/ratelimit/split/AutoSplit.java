package dev.ratelimit.hot;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotMark;

/**
 * Splits strict counters that the fleet is asked for too often for one node, and joins
 * them again. One instance does it for a counter: the one whose claim comes first. It
 * renews the mark while the counter is hot; if it dies, the mark runs out.
 *
 * <p>
 * A part gets about half of the threshold at most. It grows with the traffic, and ends
 * ten seconds after the traffic has fallen below half of the threshold.
 */
public final class AutoSplit {

	/** Who marks, as operators see it. */
	public static final String ACTOR = "automatic";

	static final int MAX_PARTS = 16;

	/** Below this many permits in a part, parts would often be empty one by one. */
	private static final int LEAST_SHARE = 4;

	private static final Duration CLAIM = Duration.ofSeconds(5);

	private static final Duration LIFE = Duration.ofSeconds(30);

	private static final int CALM_LOOKS = 10;

	private static final Logger logger = LoggerFactory.getLogger(AutoSplit.class);

	private final HotCounters hot;

	private final HotExchange exchange;

	private final HotSplits splits;

	private final long threshold;

	private final ToLongFunction<String> largestCost;

	private final Map<String, Own> own = new ConcurrentHashMap<>();

	/**
	 * Creates it.
	 * @param threshold checks per second over the fleet that make a counter hot
	 * @param largestCost the largest cost that a policy charges
	 */
	public AutoSplit(HotCounters hot, HotExchange exchange, HotSplits splits, long threshold,
			ToLongFunction<String> largestCost) {
		this.hot = hot;
		this.exchange = exchange;
		this.splits = splits;
		this.threshold = threshold;
		this.largestCost = largestCost;
	}

	/**
	 * Looks at what is new, about once a second.
	 */
	public void look() {
		Map<String, HotCounter> top = new HashMap<>();
		this.hot.top().forEach((counter) -> top.put(counter.name().key(), counter));
		List.copyOf(this.own.values()).forEach((own) -> own.look(top.get(own.name.key())));
		for (HotCounter counter : top.values()) {
			if (counter.mark() == null && counter.perSecond() >= this.threshold) {
				Counter found = this.own.containsKey(counter.name().key()) ? null : this.hot.find(counter.name().key());
				int parts = (found != null) ? parts(found, counter.perSecond()) : 1;
				if (found != null && parts > 1) {
					claim(new Own(found), parts, counter.perSecond());
				}
			}
		}
	}

	private void claim(Own own, int parts, long perSecond) {
		this.own.put(own.name.key(), own);
		own.busy = true;
		this.exchange.claim(new HotMark(own.name, CLAIM, ACTOR, "")).whenComplete((claimed, failure) -> {
			if (failure == null && claimed) {
				own.split(parts, perSecond);
			}
			else {
				this.own.remove(own.name.key());
			}
		});
	}

	private int parts(Counter counter, long perSecond) {
		boolean suited = counter.spec().enforcement() == Enforcement.STRICT && counter.spec().limit().split() == 1;
		return suited ? parts(perSecond, this.threshold, counter.spec().limit(),
				this.largestCost.applyAsLong(counter.policy())) : 1;
	}

	/**
	 * The next power of two from twice the rate over the threshold on, 16 at most, and no
	 * more than the limit has room for.
	 * @param cost what a part must be able to have
	 * @return 1 if it is better left in one piece
	 */
	static int parts(long perSecond, long threshold, Limit limit, long cost) {
		int parts = 2;
		while (parts < MAX_PARTS && parts * threshold < 2 * perSecond) {
			parts *= 2;
		}
		while (parts > 1 && !hasRoom(limit, parts, cost)) {
			parts /= 2;
		}
		return parts;
	}

	private static boolean hasRoom(Limit limit, int parts, long cost) {
		for (Quota quota : limit.quotas()) {
			if (Math.min(quota.permits(), quota.burst()) < LEAST_SHARE * parts || quota.burst() / parts < cost) {
				return false;
			}
		}
		return limit.fits(parts);
	}

	/**
	 * A counter that this instance has split.
	 */
	private final class Own {

		private final Counter counter;

		private final CounterName name;

		private volatile int parts = 1;

		private volatile boolean busy;

		private int calm;

		private int missing;

		Own(Counter counter) {
			this.counter = counter;
			this.name = CounterName.of(counter);
		}

		void look(@Nullable HotCounter seen) {
			if (this.busy) {
				return;
			}
			HotMark mark = (seen != null) ? seen.mark() : null;
			// What was read before the mark was written does not show it.
			this.missing = (mark == null) ? this.missing + 1 : 0;
			if (this.missing > 1 || mark != null && !mark.actor().equals(ACTOR)) {
				AutoSplit.this.own.remove(this.name.key());
				return;
			}
			long perSecond = (seen != null) ? seen.perSecond() : 0;
			this.calm = (2 * perSecond < AutoSplit.this.threshold) ? this.calm + 1 : 0;
			if (this.calm >= CALM_LOOKS) {
				join();
				return;
			}
			int wanted = Math.max(this.parts, parts(this.counter, perSecond));
			if (wanted > this.parts || mark != null && mark.left().compareTo(LIFE.dividedBy(2)) < 0) {
				split(wanted, perSecond);
			}
		}

		void split(int wanted, long perSecond) {
			this.busy = true;
			AutoSplit.this.splits.mark(new HotMark(this.name, LIFE, ACTOR, "", wanted), this.counter)
				.whenComplete((marked, failure) -> {
					boolean done = failure == null && marked;
					if (done && wanted > this.parts) {
						logger.info(
								"A counter of limit '{}' in policy '{}' is asked for {} times a second; it is kept in {} parts while that lasts",
								this.name.limit(), this.name.policy(), perSecond, wanted);
						this.parts = wanted;
					}
					else if (!done && this.parts == 1) {
						// The claim runs out, and whoever is then the first tries again.
						AutoSplit.this.own.remove(this.name.key());
					}
					this.busy = false;
				});
		}

		private void join() {
			this.busy = true;
			AutoSplit.this.splits.unmark(this.name.key(), this.counter).whenComplete((nothing, failure) -> {
				AutoSplit.this.own.remove(this.name.key());
				logger.info("A counter of limit '{}' in policy '{}' has cooled down and is kept in one piece again",
						this.name.limit(), this.name.policy());
			});
		}

	}

}
