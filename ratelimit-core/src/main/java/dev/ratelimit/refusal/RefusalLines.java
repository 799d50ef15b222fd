package dev.ratelimit.refusal;

import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

import org.slf4j.Logger;

/**
 * Writes lines, each a JSON object that begins with what it is about: {@code refused},
 * {@code allowed} or {@code suppressed}.
 */
final class RefusalLines {

	private final Logger logger;

	private final Function<Map<String, Object>, String> json;

	private final LongAdder suppressed;

	private final InstantSource clock;

	RefusalLines(Logger logger, Function<Map<String, Object>, String> json, LongAdder suppressed, InstantSource clock) {
		this.logger = logger;
		this.json = json;
		this.suppressed = suppressed;
		this.clock = clock;
	}

	void write(Refusal refusal, boolean refused) {
		Map<String, Object> line = new LinkedHashMap<>(48);
		line.put("event", refused ? "refused" : "allowed");
		line.putAll(refusal.describe());
		this.logger.info("{}", this.json.apply(line));
	}

	/**
	 * Says how many there were no lines for, if any.
	 */
	void writeSuppressed() {
		long count = this.suppressed.sumThenReset();
		if (count > 0) {
			Map<String, Object> line = new LinkedHashMap<>();
			line.put("event", "suppressed");
			line.put("time", this.clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
			line.put("suppressed", count);
			this.logger.info("{}", this.json.apply(line));
		}
	}

}
