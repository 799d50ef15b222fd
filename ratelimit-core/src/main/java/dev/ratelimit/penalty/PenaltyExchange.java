package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;
import dev.ratelimit.penalty.PenaltyStore.Listed;
import dev.ratelimit.penalty.PenaltyStore.Report;
import dev.ratelimit.penalty.PenaltyStore.Verdict;

/**
 * Shares the penalties of an instance with the fleet, on a thread of its own: reports
 * what the instance has seen, and puts in force what the fleet knows. Calls nothing while
 * no policy has penalties.
 *
 * <p>
 * A report is sent once. If its answer is lost, its offences may be lost: counting them
 * twice would penalise a caller that has stopped.
 */
public final class PenaltyExchange implements PenaltyStore.Listener, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(PenaltyExchange.class);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** A full list is read in 50 calls. */
	private static final Duration READ_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PAUSE = Duration.ofMillis(200);

	private static final Duration PAUSE_WITHOUT_PENALTIES = Duration.ofSeconds(1);

	private static final long REPORT_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long READ_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long REVISION_NANOS = Duration.ofSeconds(10).toNanos();

	/** Reports of one turn: 25,000 a second. */
	private static final int MOST_REPORTS = 5_000;

	/** Reports that are under way at once. */
	private static final int BATCH = 200;

	private final Penalties penalties;

	private final PenaltyStore store;

	private final BooleanSupplier active;

	private final Loop loop = new Loop("ratelimit-penalties", this::turn);

	private final FailureLog failures = new FailureLog(logger,
			"Penalties could not be shared with the fleet ({}). This instance penalises by its own count",
			"Penalties are shared with the fleet again");

	/**
	 * Counters of callers that were lifted while a report was under way, {@code null}
	 * while there is none.
	 */
	private @Nullable Set<String> lifted;

	/** Revision of the list that this instance has; -1 before it was read. */
	private long revision = -1;

	/** The highest revision that this instance has heard of. */
	private long latest = -1;

	private boolean stale = true;

	private long readAt;

	/**
	 * Creates an exchange that is not started.
	 * @param active whether any policy has penalties
	 */
	public PenaltyExchange(Penalties penalties, PenaltyStore store, BooleanSupplier active) {
		this.penalties = penalties;
		this.store = store;
		this.active = active;
		this.readAt = penalties.now() - READ_NANOS;
		penalties.whenUrgent(this.loop::wake);
		store.listen(this);
	}

	public void start() {
		this.loop.start();
	}

	@Override
	public void close() {
		this.loop.end(TIMEOUT.multipliedBy(2));
	}

	/**
	 * Ends cool-down and ban of a caller for the fleet, and at once in this instance.
	 */
	public CompletionStage<Void> lift(CallerKey caller) {
		return this.store.lift(caller).thenRun(() -> lifted(caller.key()));
	}

	private synchronized void lifted(String key) {
		if (this.lifted != null) {
			this.lifted.add(key);
		}
		this.penalties.lift(key);
	}

	@Override
	public void coolDown(CallerKey caller, Duration left) {
		this.penalties.hold(caller, false, left.toNanos(), false);
	}

	@Override
	public synchronized void ban(long revision, CallerKey caller, Duration left) {
		if (left.isZero()) {
			lifted(caller.key());
		}
		else {
			this.penalties.hold(caller, true, left.toNanos(), true);
		}
		changed(revision);
	}

	@Override
	public synchronized void unlisted(long revision, Duration left) {
		this.penalties.lookUp(left.toNanos());
		changed(revision);
	}

	private void changed(long revision) {
		this.stale |= revision != this.revision + 1;
		this.revision = revision;
		this.latest = Math.max(this.latest, revision);
	}

	@Override
	public synchronized void missed() {
		this.stale = true;
		this.loop.wake();
	}

	Duration turn() {
		if (!this.active.getAsBoolean()) {
			return PAUSE_WITHOUT_PENALTIES;
		}
		try {
			report();
			refresh();
			this.failures.worked();
		}
		catch (RuntimeException ex) {
			this.failures.failed(Futures.cause(ex).toString());
		}
		return PAUSE;
	}

	private void report() {
		long now = this.penalties.now();
		boolean looksUp = this.penalties.looksUp();
		List<Offender> due = new ArrayList<>();
		for (Offender offender : this.penalties.reports()) {
			if (!offender.hasNews() && !looksUp) {
				continue;
			}
			if (due.size() < MOST_REPORTS && offender.isDue(now, REPORT_NANOS)) {
				due.add(offender);
			}
			else {
				this.penalties.postpone(offender);
			}
		}
		int done = 0;
		try {
			while (done < due.size()) {
				List<Offender> batch = due.subList(done, Math.min(done + BATCH, due.size()));
				done += batch.size();
				report(batch, now);
			}
		}
		finally {
			due.subList(done, due.size()).forEach(this.penalties::postpone);
		}
	}

	private void report(List<Offender> offenders, long now) {
		List<Report> reports = offenders.stream().map((offender) -> report(offender, now)).toList();
		long known;
		synchronized (this) {
			known = this.revision;
			this.lifted = new HashSet<>();
		}
		try {
			List<@Nullable Verdict> verdicts = Futures.await(this.store.report(reports), TIMEOUT);
			for (int i = 0; i < verdicts.size(); i++) {
				Verdict verdict = verdicts.get(i);
				if (verdict != null) {
					learn(offenders.get(i), verdict, known);
				}
			}
		}
		finally {
			synchronized (this) {
				this.lifted = null;
			}
		}
	}

	private static Report report(Offender offender, long now) {
		Conduct conduct = offender.take(now);
		Conduct.Unsent unsent = conduct.unsent();
		Conduct.Central first = unsent.first();
		long age = (unsent.offences() > 0) ? Math.max(0, now - conduct.last()) / 1_000 : 0;
		return new Report(offender.key(), offender.terms(), unsent.offences(), age, unsent.count(),
				(first != null) ? first.time() : 0, (first != null) ? first.end() : 0);
	}

	/**
	 * Puts a verdict in force.
	 * @param known revision of the list before the verdict was asked for
	 */
	private void learn(Offender offender, Verdict verdict, long known) {
		synchronized (this) {
			// The verdict may be older than a lift that came while it was under way.
			if (this.lifted == null || !this.lifted.contains(offender.key().key())) {
				offender.learned(verdict.offences(), verdict.age() * 1_000, this.penalties.now());
				if (verdict.ban() > 0 || verdict.coolDown() > 0) {
					boolean ban = verdict.ban() > 0;
					this.penalties.hold(offender.key(), ban, (ban ? verdict.ban() : verdict.coolDown()) * 1_000, false);
				}
			}
		}
		if (verdict.began() != null) {
			this.penalties.began(offender.key(), verdict.began() == PenaltyListener.Kind.BAN);
		}
		if (verdict.began() == PenaltyListener.Kind.BAN && verdict.ban() > 0) {
			list(offender, verdict.ban(), known);
		}
	}

	/** Lists a ban that has begun, unless it was lifted since. */
	private void list(Offender offender, long micros, long known) {
		Listed listed = list(offender.key(), micros, known);
		if (listed.outcome() == Listed.Outcome.LIFTED) {
			// A lift removes the state next to the counter first, so a ban that is still
			// there began after it.
			Report question = new Report(offender.key(), offender.terms(), 0, 0, 0, 0, 0);
			Verdict now = Futures.await(this.store.report(List.of(question)), TIMEOUT).get(0);
			if (now != null && now.ban() > 0) {
				listed = list(offender.key(), now.ban(), listed.revision());
			}
		}
		if (listed.outcome() == Listed.Outcome.LIFTED) {
			this.penalties.lift(offender.key().key());
		}
		else if (listed.outcome() == Listed.Outcome.FULL) {
			this.penalties.lookUp(micros * 1_000);
		}
	}

	private Listed list(CallerKey caller, long micros, long known) {
		return Futures.await(this.store.list(new Ban(caller, Duration.ofNanos(micros * 1_000)), known), TIMEOUT);
	}

	/** Reads the list again if this instance may not have all of it. */
	private void refresh() {
		long age = this.penalties.now() - this.readAt;
		boolean stale;
		long before;
		long latest;
		synchronized (this) {
			stale = this.stale;
			before = this.revision;
			latest = this.latest;
		}
		if (age < (stale ? READ_NANOS : REVISION_NANOS)) {
			return;
		}
		this.readAt = this.penalties.now();
		if (stale || Futures.await(this.store.revision(), TIMEOUT) != before) {
			read(before, latest);
		}
	}

	private void read(long before, long latest) {
		PenaltyStore.Bans list = Futures.await(this.store.bans(), READ_TIMEOUT);
		boolean lost = list.revision() < latest;
		if (lost) {
			// Redis has lost writes. Bans that are gone with them were not lifted, so
			// this instance keeps them until their own end.
			this.penalties.keepUnlisted();
		}
		Set<String> keys = new HashSet<>();
		list.bans().forEach((ban) -> {
			keys.add(ban.caller().key());
			this.penalties.hold(ban.caller(), true, ban.left().toNanos(), true);
		});
		long unlisted = list.unlisted().toNanos();
		if (keys.size() >= PenaltyStore.MOST_BANS) {
			// Earlier releases do not say how long the bans without room can run.
			unlisted = list.bans().stream().mapToLong((ban) -> ban.left().toNanos()).reduce(unlisted, Math::max);
		}
		if (unlisted > 0) {
			this.penalties.lookUp(unlisted);
		}
		synchronized (this) {
			this.latest = lost ? list.revision() : Math.max(this.latest, list.revision());
			// A message that came meanwhile may be about a ban that was not read.
			this.stale = this.revision != before;
			if (!this.stale) {
				this.revision = list.revision();
				this.penalties.retainListed(keys);
			}
		}
	}

}
