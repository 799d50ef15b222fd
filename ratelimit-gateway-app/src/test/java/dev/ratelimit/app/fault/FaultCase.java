package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.awaitility.Awaitility;

import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.Within;

/**
 * One fault: gateways under load before, during and after it. A case says what it does to
 * Redis and then asserts on {@link #calls()}, {@link #decisions()} and
 * {@link #breakers()}.
 */
final class FaultCase implements AutoCloseable {

	/** Full enforcement has to be back so soon after Redis is. */
	private static final Duration RECOVERY = Duration.ofSeconds(10);

	/** Cold code on a busy machine opens breakers for a while. */
	private static final Duration PATIENCE = Duration.ofSeconds(90);

	/** For so long nothing is degraded while limits are enforced. */
	private static final Duration CALM = Duration.ofMillis(500);

	private final String fault;

	private final Phases phases = new Phases();

	private final Gateways.Observed observed = Gateways.Observed.by(this.phases);

	private final Gateways gateways;

	private final OpenLoopLoad load;

	private final Stalls stalls = new Stalls(this.phases);

	private final long heapBefore;

	private Runnable onClose = () -> {
	};

	private Optional<Duration> recovered = Optional.empty();

	private long heapAfter;

	private FaultCase(String fault, Gateways gateways) {
		// Begins to watch.
		Pauses.now();
		this.fault = fault;
		this.gateways = gateways;
		this.load = gateways.load(Faults.rate(), this.phases);
		this.heapBefore = FaultReport.heapAfterCollection();
		gateways.observe(this.observed);
		this.load.start();
	}

	/** Starts gateways and load, and returns when both are warm. */
	static FaultCase start(String fault, Gateway.Settings settings, Callers callers) {
		Gateways gateways = Gateways.start(settings, callers);
		try {
			FaultCase started = start(fault, gateways);
			started.onClose = gateways::close;
			return started;
		}
		catch (RuntimeException ex) {
			gateways.close();
			throw ex;
		}
	}

	/** Starts the load, and returns when gateways enforce limits under it. */
	static FaultCase start(String fault, Gateways gateways) {
		FaultCase started = new FaultCase(fault, gateways);
		try {
			started.awaitCalm();
			return started;
		}
		catch (RuntimeException ex) {
			started.close();
			throw ex;
		}
	}

	/** Starts gateways and load while the fault is there already. */
	static FaultCase startDuring(String fault, Gateway.Settings settings, Callers callers) {
		Gateways gateways = Gateways.start(settings, callers);
		FaultCase started = new FaultCase(fault, gateways);
		started.onClose = gateways::close;
		return started;
	}

	void before() {
		this.phases.enter(Phase.BEFORE);
		this.load.run(Faults.phase());
		awaitCalm();
	}

	/** Injects the fault and lets it last. */
	void during(Runnable injection) {
		during(Faults.phase(), injection);
	}

	/** Injects a fault that has to last for a while to show what it does. */
	void during(Duration time, Runnable injection) {
		this.phases.enter(Phase.DURING);
		injection.run();
		this.load.run(time);
	}

	/**
	 * Ends the fault, waits until limits are enforced again, lets that last, and tells
	 * what happened, also if they are not.
	 */
	void after(Runnable repair) {
		after(Faults.phase(), repair);
	}

	/** The same, and lets it last for so long. */
	void after(Duration time, Runnable repair) {
		this.phases.enter(Phase.AFTER);
		repair.run();
		long repaired = System.nanoTime();
		try {
			Within.of(RECOVERY).until(() -> recovered(repaired).isPresent());
			this.recovered = recovered(repaired);
			this.load.run(time);
		}
		finally {
			this.load.stop();
			this.stalls.close();
			this.heapAfter = FaultReport.heapAfterCollection();
			new FaultReport(this).publish();
		}
	}

	String fault() {
		return this.fault;
	}

	List<Gateway> gateways() {
		return this.gateways.all();
	}

	OpenLoopLoad calls() {
		return this.load;
	}

	Decisions decisions() {
		return this.observed.decisions();
	}

	Breakers breakers() {
		return this.observed.breakers();
	}

	/** From the injection until each gateway had opened a breaker. */
	Optional<Duration> opened() {
		return breakers().opened(gateways().size());
	}

	/** From the end of the fault until limits were enforced again. */
	Optional<Duration> recovered() {
		return this.recovered;
	}

	/** How long the fault lasted. */
	Duration lasted() {
		return this.phases.length(Phase.DURING);
	}

	/** How long ago the case began, its warm-up included. */
	Duration age() {
		return this.phases.since(Phase.WARM_UP, System.nanoTime());
	}

	/** The phase at a {@link System#nanoTime()}. */
	Phase phase(long nanos) {
		return this.phases.at(nanos);
	}

	/** What others took of this machine in the time after a phase began. */
	Duration lost(Phase phase, Duration time) {
		long start = this.phases.start(phase);
		return Pauses.lost(start, start + time.toNanos());
	}

	Stalls stalls() {
		return this.stalls;
	}

	long heapBefore() {
		return this.heapBefore;
	}

	long heapAfter() {
		return this.heapAfter;
	}

	@Override
	public void close() {
		this.stalls.close();
		this.load.close();
		this.onClose.run();
	}

	private void awaitCalm() {
		Awaitility.await("limits to be enforced")
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> decisions().enforcedFor(CALM));
	}

	/**
	 * Breakers say it best, as they may open again because of something else; but not all
	 * faults open one, and the node of one that did may be gone.
	 */
	private Optional<Duration> recovered(long repaired) {
		if (opened().isPresent()) {
			Optional<Duration> closed = breakers().closedAgain(repaired);
			if (closed.isPresent()) {
				return closed;
			}
		}
		return decisions().enforcedFor(CALM) ? Optional.of(decisions().degradedSince(repaired)) : Optional.empty();
	}

}
