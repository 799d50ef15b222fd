package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Grants;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for signals on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class SignalsContract {

	private static final CounterKeys KEYS = new CounterKeys("rl");

	final List<Instance> instances = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	abstract List<RedisServer> servers();

	@AfterEach
	void end() {
		this.instances.forEach(Instance::close);
	}

	@Test
	void resetThroughOneInstanceMakesTheOtherForgetItsRefusal() {
		Instance one = start();
		Instance other = start();
		Counter counter = counter(Enforcement.STRICT, "10/d");
		other.take(10, counter);
		other.take(1, counter);
		assertThat(other.take(1, counter).source()).isEqualTo(Decision.Source.DENIED_CACHE);
		one.reset(counter);
		within(1).until(() -> !other.take(1, counter).refused());
	}

	@Test
	void resetThroughOneInstanceMakesTheOtherDropItsLease() {
		Instance one = start();
		Instance other = start();
		Counter counter = counter(Enforcement.LEASED, "1000000/h");
		within(5).until(() -> leasedForAWhile(other, counter));
		one.reset(counter);
		within(1).until(() -> other.take(1, counter).source() == Decision.Source.REDIS);
	}

	@Test
	void otherCountersKeepTheirRefusals() {
		Instance one = start();
		Instance other = start();
		Counter counter = counter(Enforcement.STRICT, "10/d");
		Counter kept = new Counter(counter.spec(), KEYS, "orders", List.of("globex"));
		other.take(10, kept);
		other.take(1, kept);
		one.reset(counter);
		within(1).until(() -> other.forgotten.get() > 0);
		assertThat(other.take(1, kept).source()).isEqualTo(Decision.Source.DENIED_CACHE);
	}

	@Test
	void killedConnectionSubscribesAgainAndRefusalsAreForgotten() {
		Instance one = start();
		Instance other = start();
		Counter counter = counter(Enforcement.STRICT, "10/d");
		other.take(10, counter);
		other.take(1, counter);
		assertThat(other.take(1, counter).source()).isEqualTo(Decision.Source.DENIED_CACHE);
		servers().forEach((server) -> server.cli("CLIENT", "KILL", "TYPE", "pubsub"));
		within(3).until(() -> other.missed.get() == 2 && one.missed.get() == 2);
		assertThat(other.take(1, counter).source()).isEqualTo(Decision.Source.REDIS);
		one.reset(counter);
		within(1).until(() -> !other.take(1, counter).refused());
	}

	@Test
	void signsOfLifeDoNotCountAsANewSubscription() {
		Instance one = start();
		long before = subscriptions();
		within(10).until(() -> subscriptions() >= before + 2);
		assertThat(one.missed).hasValue(1);
	}

	@Test
	void anotherTypeOfSignalHasItsOwnListener() {
		Instance one = start();
		Instance other = start();
		List<String> heard = new CopyOnWriteArrayList<>();
		other.signals.listen("greeting", heard::addAll);
		one.signals.send("greeting", "good day");
		one.signals.send("unknown", "to nobody");
		one.signals.send("greeting", "good night");
		within(1).until(() -> heard.size() == 2);
		assertThat(heard).containsExactly("good day", "good night");
	}

	private long subscriptions() {
		return servers().stream().mapToLong((server) -> server.calls("subscribe")).sum();
	}

	/** So large a lease that it lasts for as long as nobody drops it. */
	private static boolean leasedForAWhile(Instance instance, Counter counter) {
		int leased = 0;
		for (int i = 0; i < 1_000; i++) {
			leased += (instance.take(1, counter).source() == Decision.Source.LEASE) ? 1 : 0;
		}
		return leased == 1_000;
	}

	private static Counter counter(Enforcement enforcement, String quota) {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, Limit.of("per-tenant", List.of(Dimension.TENANT), quota),
				enforcement, new LiveWindows());
		return new Counter(spec, KEYS, "orders", List.of("acme"));
	}

	private Instance start() {
		Instance instance = new Instance(connector());
		this.instances.add(instance);
		within(5).until(() -> instance.missed.get() == 1);
		return instance;
	}

	static Within within(int seconds) {
		return Within.seconds(seconds);
	}

	/** What an instance of an application has of it. */
	static final class Instance {

		final AtomicInteger forgotten = new AtomicInteger();

		final AtomicInteger missed = new AtomicInteger();

		final RedisSignals signals;

		private final RedisConnector connector;

		private final LeasedCounters counters;

		Instance(RedisConnector connector) {
			this.connector = connector;
			this.signals = RedisSignals.on(connector, "rl");
			connector.start(Duration.ofSeconds(10));
			LeaseOptions options = new LeaseOptions(Duration.ofSeconds(1), 20, Duration.ofSeconds(30), 1_000);
			this.counters = new LeasedCounters(Connections.guarded(RedisCounters.on(connector, this.signals)), options,
					() -> 2, (any) -> false, (permits) -> {
					}, System::nanoTime, Connections.DEADLINES);
			this.signals.listen(ForgetSignal.TYPE, new ForgetSignal((keys) -> {
				this.counters.forget(keys);
				this.forgotten.incrementAndGet();
			}, () -> {
				this.counters.forgetRefusals();
				this.missed.incrementAndGet();
			}));
			this.signals.start();
		}

		Grant take(long permits, Counter counter) {
			return Grants.answered(this.counters.acquire(List.of(counter), Permits.exactly(permits)));
		}

		void reset(Counter counter) {
			this.counters.reset(List.of(counter)).toCompletableFuture().join();
		}

		void close() {
			this.signals.close();
			this.connector.close();
		}

	}

}
