package dev.ratelimit.split;

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
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotCounter;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;

/**
 * Splits strict counters that have too much traffic for one node, and joins them again.
 * One instance does this for a counter: the one whose claim comes first. It renews the
 * mark while the counter is hot; if it dies, the mark runs out.
 *
 * <p>
 * A part gets at most about half of the threshold. The number of parts grows with the
 * traffic, and the split ends ten seconds after the traffic has fallen below half of the
 * threshold.
 */
public final class AutoSplit {

	/** The actor of automatic marks, as operators see it. */
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
	 * Splits, grows or joins counters by the latest rates. To be called about once a
	 * second.
	 */
	public void review() {
		Map<String, HotCounter> top = new HashMap<>();
		this.hot.top().forEach((counter) -> top.put(counter.name().key(), counter));
		List.copyOf(this.own.values()).forEach((own) -> own.review(top.get(own.name.key())));
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
	 * The number of parts: twice the rate divided by the threshold, rounded up to a power
	 * of two, at most 16 and at most what the limit has room for.
	 * @param cost permits that a part must be able to grant at once
	 * @return 1 if the counter should stay whole
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

		void review(@Nullable HotCounter seen) {
			if (this.busy) {
				return;
			}
			HotMark mark = (seen != null) ? seen.mark() : null;
			// A view that was read before the mark was written does not show it.
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
								"A counter of limit '{}' in policy '{}' has {} checks a second and is now split into {} parts",
								this.name.limit(), this.name.policy(), perSecond, wanted);
						this.parts = wanted;
					}
					else if (!done && this.parts == 1) {
						// The claim expires, and the first instance to claim it then
						// tries again.
						AutoSplit.this.own.remove(this.name.key());
					}
					this.busy = false;
				});
		}

		private void join() {
			this.busy = true;
			AutoSplit.this.splits.unmark(this.name.key(), this.counter).whenComplete((nothing, failure) -> {
				AutoSplit.this.own.remove(this.name.key());
				logger.info("A counter of limit '{}' in policy '{}' has cooled down and is no longer split",
						this.name.limit(), this.name.policy());
			});
		}

	}

}
