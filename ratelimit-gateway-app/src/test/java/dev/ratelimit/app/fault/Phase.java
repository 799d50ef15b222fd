package dev.ratelimit.app.fault;

import java.util.Locale;

/** A part of a case. The first is not reported: code is cold and slow in it. */
enum Phase {

	WARM_UP, BEFORE, DURING, AFTER;

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
