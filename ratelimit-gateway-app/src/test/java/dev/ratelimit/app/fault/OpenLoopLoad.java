package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Calls gateways at a fixed rate, whether they answer or not, as independent callers do.
 * A generator that waits for answers would slow down with a sick gateway and hide what is
 * being looked for. Calls that are late are made up for; calls beyond what may wait are
 * counted and not made.
 */
final class OpenLoopLoad implements AutoCloseable {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	private static final int MAX_WAITING = 512;

	/** A call that is not answered by then is a failure, however busy the machine is. */
	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final List<Target> targets;

	private final int rate;

	private final Callers callers;

	private final Phases phases;

	private final Map<Phase, Map<String, Calls>> calls = new EnumMap<>(Phase.class);

	private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "load");
		thread.setDaemon(true);
		return thread;
	});

	// Not the JVM's shared ones, which belong to the gateways.
	private final LoopResources loops = LoopResources.create("load", 1, true);

	private final ConnectionProvider connections = ConnectionProvider.create("load", MAX_WAITING);

	private final HttpClient client = HttpClient.create(this.connections)
		.runOn(this.loops)
		.responseTimeout(TIMEOUT)
		.disableRetry(true);

	/** One connection each, so nobody ever queues for one. */
	private final Semaphore mayWait = new Semaphore(MAX_WAITING);

	private final SplittableRandom random = new SplittableRandom(1);

	private final AtomicLong due = new AtomicLong();

	private long start;

	OpenLoopLoad(List<Target> targets, int rate, Callers callers, Phases phases) {
		this.targets = targets;
		this.rate = rate;
		this.callers = callers;
		this.phases = phases;
		for (Phase phase : Phase.values()) {
			this.calls.put(phase,
					targets.stream()
						.map(Target::policy)
						.distinct()
						.collect(Collectors.toMap(Function.identity(), (policy) -> new Calls())));
		}
	}

	void start() {
		this.start = System.nanoTime();
		this.scheduler.scheduleAtFixedRate(this::sendDue, 0, 1, TimeUnit.MILLISECONDS);
	}

	/** Returns when the calls of such a time have been due. */
	void run(Duration time) {
		long until = this.due.get() + time.toMillis() * this.rate / 1000;
		Awaitility.await("the load")
			.atMost(time.plus(TIMEOUT))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5))
			.until(() -> this.due.get() >= until);
	}

	/** Makes no more calls and waits for the answers. */
	void stop() {
		this.scheduler.shutdown();
		Awaitility.await("the last answers")
			.atMost(TIMEOUT.multipliedBy(2))
			.pollDelay(Duration.ZERO)
			.until(() -> this.scheduler.isTerminated() && this.mayWait.availablePermits() == MAX_WAITING);
	}

	int rate() {
		return this.rate;
	}

	/** The policies that hold where calls go. */
	List<String> policies() {
		return this.targets.stream().map(Target::policy).distinct().toList();
	}

	/** The calls of a phase by now, under whichever policy. */
	Calls calls(Phase phase) {
		Calls all = new Calls();
		this.calls.get(phase).values().forEach(all::add);
		return all;
	}

	Calls calls(Phase phase, String policy) {
		return this.calls.get(phase).get(policy);
	}

	/** A number of all phases but the warm-up. */
	long total(ToLongFunction<Calls> number) {
		return policies().stream().mapToLong((policy) -> total(policy, number)).sum();
	}

	long total(String policy, ToLongFunction<Calls> number) {
		return Stream.of(Phase.BEFORE, Phase.DURING, Phase.AFTER)
			.map((phase) -> calls(phase, policy))
			.mapToLong(number)
			.sum();
	}

	@Override
	public void close() {
		this.scheduler.shutdownNow();
		this.connections.dispose();
		this.loops.disposeLater(Duration.ZERO, TIMEOUT).block(TIMEOUT);
	}

	private void sendDue() {
		long until = (System.nanoTime() - this.start) * this.rate / SECOND;
		for (long number = this.due.get(); number <= until; number++) {
			send(number);
			this.due.set(number + 1);
		}
	}

	private void send(long number) {
		long intended = this.start + number * SECOND / this.rate;
		// At random, or a caller might always meet the same gateway.
		Target target = this.targets.get(this.random.nextInt(this.targets.size()));
		Calls calls = calls(this.phases.at(intended), target.policy());
		if (!this.mayWait.tryAcquire()) {
			calls.unsent();
			return;
		}
		this.client.headers((headers) -> this.callers.identify(number, headers))
			.get()
			.uri(target.uri())
			.responseSingle((response, body) -> body
				.thenReturn(Answer.of(response.status().code(), response.responseHeaders())))
			.doFinally((signal) -> this.mayWait.release())
			.subscribe((answer) -> calls.answered(answer, System.nanoTime() - intended), (failure) -> calls.failed());
	}

}
