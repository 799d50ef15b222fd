package dev.ratelimit.hot;

import java.util.List;

/**
 * The counters that the whole fleet is asked for most, as last seen: about once a second.
 */
public interface HotList {

	/**
	 * Most asked for first, then what is marked without traffic. Never changes once
	 * handed out.
	 */
	List<HotCounter> top();

	/**
	 * The highest rate there is, in checks per second over the fleet; 0 if none is known.
	 */
	default long maxRate() {
		List<HotCounter> top = top();
		return top.isEmpty() ? 0 : top.get(0).perSecond();
	}

}
