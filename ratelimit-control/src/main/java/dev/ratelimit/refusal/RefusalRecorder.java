package dev.ratelimit.refusal;

import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.background.Handoff;
import dev.ratelimit.caller.CallerNames;

/**
 * Records refusals and a sample of allowed requests. The deciding thread only counts and
 * queues them; a background thread writes them.
 */
public final class RefusalRecorder implements DecisionListener, AutoCloseable {

	/** Name of the logger of the lines. */
	public static final String LOGGER = "dev.ratelimit.refusals";

	private static final Logger logger = LoggerFactory.getLogger(LOGGER);

	private static final int MAX_WAITING = 2_000;

	private final RefusalOptions options;

	private final Function<String, RefusalContext> context;

	private final InstantSource clock;

	private final LongSupplier nanos;

	private final SecondBudget lines;

	private final SecondBudget samples;

	private final SecondBudget entries;

	private final LongAdder suppressed = new LongAdder();

	private final LongAdder missing = new LongAdder();

	private final KeyCaps keys;

	private final Handoff<QueuedRefusal> queue = new Handoff<>(MAX_WAITING);

	private final RefusalWriter writer;

	/**
	 * Creates a recorder that has not started.
	 * @param names pseudonyms of callers
	 * @param context state of a policy and of Redis, by the policy's id
	 * @param nanos a monotonic clock
	 */
	public RefusalRecorder(RefusalOptions options, RefusalHistory history, CallerNames names, String instance,
			Function<String, RefusalContext> context, InstantSource clock, LongSupplier nanos) {
		this.options = options;
		this.context = context;
		this.clock = clock;
		this.nanos = nanos;
		this.lines = new SecondBudget(options.linesPerSecond());
		this.samples = new SecondBudget(options.linesPerSecond());
		this.entries = new SecondBudget(options.perSecond());
		this.keys = new KeyCaps(options.perKey(), this.missing);
		this.writer = new RefusalWriter(this.queue, this.keys, history, names, instance, this.suppressed, this.missing,
				clock, nanos);
	}

	public void start() {
		this.writer.start();
	}

	/** Writes the rest, for at most 2 s. */
	@Override
	public void close() {
		this.writer.close();
	}

	/**
	 * Refusals since the start that are not in the history although they should be.
	 */
	public long missing() {
		return this.missing.sum();
	}

	/** Writes what is queued, as the background thread does. */
	void write() {
		this.writer.write();
	}

	@Override
	public void decided(Request request, Decision decision, long took) {
		if (!decision.allowed() || decision.outcome() == Decision.Outcome.SHADOW_REFUSED) {
			refused(request, decision);
		}
		else if (this.options.sampleAllowed() > 0
				&& ThreadLocalRandom.current().nextInt(this.options.sampleAllowed()) == 0) {
			sampled(request, decision);
		}
	}

	private void refused(Request request, Decision decision) {
		long now = this.nanos.getAsLong();
		boolean line = isLogged() && this.lines.take(now);
		if (!line && isLogged()) {
			this.suppressed.increment();
		}
		boolean kept = this.options.maxEntries() > 0;
		KeyCaps.Place place = kept ? this.keys.place(request, decision, now) : null;
		boolean entry = place != null && place.isEntry() && this.entries.take(now);
		if (kept && !entry && (place == null || place.isEntry())) {
			this.missing.increment();
		}
		if (line || entry) {
			queue(queued(request, decision, true, line, entry));
		}
		if (place != null && place.isFirstCounted()) {
			place.example(queued(request, decision, true, false, true));
		}
	}

	private void sampled(Request request, Decision decision) {
		if (isLogged() && this.samples.take(this.nanos.getAsLong())) {
			queue(queued(request, decision, false, true, false));
		}
	}

	private boolean isLogged() {
		return this.options.linesPerSecond() > 0 && logger.isInfoEnabled();
	}

	private void queue(QueuedRefusal queued) {
		if (!this.queue.offer(queued)) {
			if (queued.line()) {
				this.suppressed.increment();
			}
			if (queued.entry()) {
				this.missing.increment();
			}
		}
	}

	private QueuedRefusal queued(Request request, Decision decision, boolean refused, boolean line, boolean entry) {
		return new QueuedRefusal(this.clock.instant(), request.dimensions(), Refusal.Verdict.of(decision),
				this.context.apply(decision.policy()), request.traceId(), refused, line, entry);
	}

}
