package dev.ratelimit.refusal;

import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;

/**
 * Notices refusals, and one in many allowed requests, on the thread that decides, where
 * it only counts and queues. A thread of its own writes them down.
 */
public final class RefusalRecorder implements DecisionListener, AutoCloseable {

	/** What lines are logged by. */
	public static final String LOGGER = "dev.ratelimit.refusals";

	private static final Logger logger = LoggerFactory.getLogger(LOGGER);

	private final RefusalOptions options;

	private final Function<String, Circumstances> circumstances;

	private final InstantSource clock;

	private final LongSupplier nanos;

	private final SecondBudget lines;

	private final SecondBudget samples;

	private final SecondBudget entries;

	private final LongAdder suppressed = new LongAdder();

	private final LongAdder missing = new LongAdder();

	private final KeyCaps keys;

	private final RefusalQueue queue = new RefusalQueue();

	private final RefusalWriter writer;

	/**
	 * Creates a recorder that does not write yet.
	 * @param options how much is written
	 * @param history where entries are kept
	 * @param names what callers go by
	 * @param instance which instance this is
	 * @param circumstances what is going on about a policy, by its id
	 * @param json writes a line
	 * @param clock tells the time
	 * @param nanos a monotonic clock
	 */
	public RefusalRecorder(RefusalOptions options, RefusalHistory history, CallerNames names, String instance,
			Function<String, Circumstances> circumstances, Function<Map<String, Object>, String> json,
			InstantSource clock, LongSupplier nanos) {
		this.options = options;
		this.circumstances = circumstances;
		this.clock = clock;
		this.nanos = nanos;
		this.lines = new SecondBudget(options.linesPerSecond());
		this.samples = new SecondBudget(options.linesPerSecond());
		this.entries = new SecondBudget(options.perSecond());
		this.keys = new KeyCaps(options.perKey(), this.missing);
		RefusalLines log = new RefusalLines(logger, json, this.suppressed, clock);
		this.writer = new RefusalWriter(this.queue, this.keys, log, history, this.missing,
				(noticed) -> noticed.refusal(names, instance), (repeats) -> repeats.example()
					.repeated(names, instance, clock.instant(), repeats.count(), repeats.lasted()),
				nanos);
	}

	public void start() {
		this.writer.start();
	}

	/**
	 * Writes down what is left, and waits a moment for that.
	 */
	@Override
	public void close() {
		this.writer.close();
	}

	/**
	 * How many refusals of this instance should be in the history and are not, since its
	 * start.
	 */
	public long missing() {
		return this.missing.sum();
	}

	/**
	 * Writes down what was noticed, as the thread does by itself.
	 */
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
			queue(noticed(request, decision, true, line, entry));
		}
		if (place != null && place.isFirstCounted()) {
			place.example(noticed(request, decision, true, false, true));
		}
	}

	private void sampled(Request request, Decision decision) {
		if (isLogged() && this.samples.take(this.nanos.getAsLong())) {
			queue(noticed(request, decision, false, true, false));
		}
	}

	private boolean isLogged() {
		return this.options.linesPerSecond() > 0 && logger.isInfoEnabled();
	}

	private void queue(Noticed noticed) {
		if (!this.queue.offer(noticed)) {
			if (noticed.line()) {
				this.suppressed.increment();
			}
			if (noticed.entry()) {
				this.missing.increment();
			}
		}
	}

	private Noticed noticed(Request request, Decision decision, boolean refused, boolean line, boolean entry) {
		return new Noticed(this.clock.instant(), request.dimensions(), Refusal.Verdict.of(decision),
				this.circumstances.apply(decision.policy()), request.traceId(), refused, line, entry);
	}

}
