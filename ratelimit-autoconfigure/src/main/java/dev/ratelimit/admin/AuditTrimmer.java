package dev.ratelimit.admin;

import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletionException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;
import dev.ratelimit.store.AuditCuts;
import dev.ratelimit.store.PolicyStore;

/**
 * Keeps the trail of the store within its bounds: once an hour, on one instance. The
 * removal is an entry of the trail, with the hash of the last removed entry, where a
 * verification starts. Entries that are too old are removed by whole days, so that there
 * is at most one removal a day for them.
 */
final class AuditTrimmer implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(AuditTrail.class);

	private static final String TASK = "audit-trim";

	private static final Duration FIRST = Duration.ofMinutes(1);

	private static final Duration EVERY = Duration.ofHours(1);

	/** Shorter than the pause: each hour any instance can lead. */
	private static final Duration LEAD = Duration.ofMinutes(55);

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private final PolicyStore store;

	private final AuditCuts cuts;

	private final Audit audit;

	private final AuditOptions options;

	private final String instance;

	private final InstantSource clock;

	private final Loop loop = new Loop("ratelimit-audit-trim", this::turn);

	AuditTrimmer(PolicyStore store, Audit audit, AuditOptions options, String instance, InstantSource clock) {
		this.store = store;
		this.cuts = new AuditCuts(store, options.maxEntries());
		this.audit = audit;
		this.options = options;
		this.instance = instance;
		this.clock = clock;
	}

	void start() {
		this.loop.start(FIRST);
	}

	@Override
	public void close() {
		this.loop.end(Duration.ZERO);
	}

	private Duration turn() {
		if (Futures.await(this.store.lead(TASK, this.instance, LEAD), TIMEOUT).isPresent()) {
			try {
				trim();
			}
			catch (CompletionException ex) {
				logger.warn("Old entries of the audit trail were not removed ({}); the next try is in an hour",
						Futures.cause(ex).toString());
			}
		}
		return EVERY;
	}

	void trim() {
		Futures
			.await(this.cuts.find(this.clock.instant().minus(this.options.retention()).truncatedTo(ChronoUnit.DAYS)),
					TIMEOUT)
			.ifPresent(
					(cut) -> this.audit.record(
							new Audit.Entry(AuditCuts.ACTION, Audit.Outcome.DONE, "ratelimit", cut.hash(), "",
									"removes all entries up to " + cut.position().text(), "older than "
											+ this.options.retention() + " or more than " + this.options.maxEntries()),
							cut.position()));
	}

}
