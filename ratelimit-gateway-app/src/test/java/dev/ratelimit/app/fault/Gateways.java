package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;

/**
 * Gateways that have answered enough calls to be warm, for one case or for several in
 * turn: to start them takes longer than most cases.
 */
final class Gateways implements DecisionListener, AutoCloseable {

	private final Callers callers;

	private final List<Gateway> all;

	private volatile Observed observed = Observed.by(new Phases());

	private Gateways(Gateway.Settings settings, Callers callers) {
		this.callers = callers;
		this.all = settings.start(this,
				(gateway, node, state) -> this.observed.breakers().changed(gateway, node, state));
	}

	/** Returns when gateways have answered calls, by whatever means. */
	static Gateways start(Gateway.Settings settings, Callers callers) {
		Gateways gateways = new Gateways(settings, callers);
		try {
			// The very first calls are slow, and a crowd behind them would be too.
			gateways.warmUp(20, 10);
			gateways.warmUp(300, 900);
			return gateways;
		}
		catch (RuntimeException ex) {
			gateways.close();
			throw ex;
		}
	}

	/** Begins a case with these gateways, which outlive it. */
	FaultCase fault(String fault) {
		return FaultCase.start(fault, this);
	}

	/** From now on what happens is seen by another. */
	void observe(Observed observed) {
		this.observed = observed;
	}

	OpenLoopLoad load(int rate, Phases phases) {
		return new OpenLoopLoad(this.all.stream().flatMap((gateway) -> gateway.targets().stream()).toList(), rate,
				this.callers, phases);
	}

	List<Gateway> all() {
		return this.all;
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		this.observed.decisions().decided(request, decision, nanos);
	}

	@Override
	public void close() {
		this.all.forEach(Gateway::close);
	}

	/** Counted in answers, since a cold gateway gives few of them. */
	private void warmUp(int rate, int answers) {
		try (OpenLoopLoad load = load(rate, new Phases())) {
			load.start();
			Awaitility.await("the gateways to be warm")
				.atMost(Duration.ofMinutes(1))
				.until(() -> load.calls(Phase.WARM_UP).sent() >= answers);
			load.stop();
		}
	}

	/** What is seen of gateways from the inside. */
	record Observed(Decisions decisions, Breakers breakers) {

		static Observed by(Phases phases) {
			return new Observed(new Decisions(phases), new Breakers(phases));
		}

	}

}
