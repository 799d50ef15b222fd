package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.PenaltyContract;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.penalty.Ban;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.penalty.PenaltyExchange;
import dev.ratelimit.penalty.PenaltyListener;
import dev.ratelimit.penalty.PenaltyStore;
import dev.ratelimit.penalty.PenaltyStore.Report;
import dev.ratelimit.penalty.PenaltyStore.Verdict;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for the penalties of a fleet, on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class PenaltyFleetContract extends PenaltyContract {

	private static final AtomicInteger TESTS = new AtomicInteger();

	private static final Request BOB = ANN.with(Dimension.USER, "bob");

	private static final Penalty FOR_A_DAY = new Penalty(2, Duration.ofSeconds(10), Duration.ofSeconds(15), 6,
			Duration.ofDays(1), 0);

	/**
	 * Of this test alone: what a node of a cluster still had to do or to publish for the
	 * last test would come after Redis was emptied.
	 */
	private final String prefix = "rl" + TESTS.incrementAndGet();

	private final String bans = this.prefix + ":{fleet}:bans";

	private final CounterKeys keys = new CounterKeys(this.prefix);

	private final String state = state("ann");

	private final List<Instance> fleet = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	/** Counters on an emptied Redis. */
	abstract RedisCounters redis();

	/** The server that holds a key. */
	abstract RedisServer server(String key);

	@Override
	protected String prefix() {
		return this.prefix;
	}

	@Override
	protected Counters counters(LongSupplier micros) {
		return Connections.guarded(redis().at(micros));
	}

	@Override
	protected Penalties penalties(LongSupplier nanos) {
		return start().penalties;
	}

	@AfterEach
	void end() {
		this.fleet.forEach(Instance::close);
	}

	@Test
	void fleetIsToldOfACoolDownWithinASecond() {
		redis();
		Instance one = start();
		Instance other = start();
		List<Duration> heard = new CopyOnWriteArrayList<>();
		other.store.listen(new CoolDowns(heard));
		report(one, 2, 0, 0);
		within(1).until(() -> !heard.isEmpty());
		assertThat(heard.get(0)).isBetween(Duration.ofSeconds(9), Duration.ofSeconds(10));
	}

	@Test
	void fleetKnowsABanWithinASecondAndItIsMeteredOnce() {
		List<PolicyRateLimiter> limiters = limiters(2, TERMS);
		offend(limiters.get(0), 6);
		within(1).until(() -> this.fleet.get(1).penalties.banned() == 1);
		assertThat(check(limiters.get(1), ANN).reason()).isEqualTo(Decision.Reason.BAN);
		await().until(() -> this.fleet.get(0).began.contains(PenaltyListener.Kind.BAN));
		assertThat(this.fleet.get(1).began).isEmpty();
		assertThat(this.fleet.get(1).penalties.bans()).extracting(Ban::caller).containsExactly(caller());
	}

	@Test
	void refusalsOfDifferentInstancesAreOneRun() {
		Penalty bansOnly = new Penalty(1_000, Duration.ofSeconds(10), Duration.ofSeconds(15), 6, Duration.ofSeconds(60),
				0);
		List<PolicyRateLimiter> limiters = limiters(8, bansOnly);
		// Ahead of Redis's clock, or Redis would forget the run after a real second.
		pass(Duration.ofSeconds(60));
		check(limiters.get(0), ANN);
		check(limiters.get(0), ANN);
		await().until(() -> server(this.state).cli("EXISTS", this.state).equals("1"));
		pass(Duration.ofMillis(300));
		// Each instance sees one refusal, which by itself is no offence.
		limiters.subList(1, 7).forEach((limiter) -> assertThat(check(limiter, ANN).allowed()).isFalse());
		await().until(() -> this.fleet.get(7).penalties.banned() == 1);
	}

	@Test
	void refusalsUnderWayInOtherInstancesAreNoOffence() {
		redis();
		Instance instance = start();
		long now = System.currentTimeMillis() * 1_000;
		assertThat(report(instance, 0, 1, now).offences()).isZero();
		assertThat(report(instance, 0, 5, now + 249_999).offences()).isZero();
		assertThat(report(instance, 0, 5, now + 250_000).offences()).isEqualTo(5);
		assertThat(report(instance, 0, 5, now + 1_250_000).offences()).isEqualTo(5);
		assertThat(report(instance, 0, 1, now + 2_249_999).offences()).isZero();
	}

	@Test
	void runBeginsAnewIfTheClockOfRedisWasSetBack() {
		redis();
		Instance instance = start();
		long now = System.currentTimeMillis() * 1_000;
		assertThat(report(instance, 0, 1, now).offences()).isZero();
		assertThat(report(instance, 0, 1, now - 60_000_000).offences()).isZero();
		assertThat(report(instance, 0, 1, now - 59_500_000).offences()).isEqualTo(1);
	}

	@Test
	void instanceThatStartsLaterKnowsTheBans() {
		List<PolicyRateLimiter> limiters = limiters(1, TERMS);
		offend(limiters.get(0), 6);
		awaitListed(1);
		Instance later = start();
		await().until(() -> later.penalties.banned() == 1);
	}

	@Test
	void banThatIsLiftedThroughOneInstanceIsOverInAll() {
		List<PolicyRateLimiter> limiters = limiters(2, TERMS);
		offend(limiters.get(0), 6);
		await().until(() -> this.fleet.get(1).penalties.banned() == 1);
		this.fleet.get(1).exchange.lift(caller()).toCompletableFuture().join();
		assertThat(server(this.state).cli("EXISTS", this.state)).isEqualTo("0");
		awaitListed(0);
		within(1).until(() -> this.fleet.stream().allMatch((instance) -> instance.penalties.banned() == 0));
		await().until(() -> {
			pass(Duration.ofSeconds(2));
			return check(limiters.get(0), ANN).allowed();
		});
	}

	@Test
	void liftWinsOverABanThatAnInstanceHasNotListedYet() {
		RedisCounters counters = redis();
		Instance operators = start();
		Instance slow = start();
		List<PenaltyStore.Listed> listed = new CopyOnWriteArrayList<>();
		Penalties penalties = Penalties.shared((policy, kind) -> {
		}, PenaltyContract::isProxy, this::nanos);
		LiftedMeanwhile store = new LiftedMeanwhile(slow.store,
				() -> operators.exchange.lift(caller()).toCompletableFuture().join(), listed);
		try (PenaltyExchange exchange = new PenaltyExchange(penalties, store, () -> true)) {
			exchange.start();
			offend(limiter(perUser("1/s").penalty(TERMS).build(), counters.at(micros()), this.keys, penalties), 6);
			await().until(() -> !listed.isEmpty());
			assertThat(listed.get(0).outcome()).isEqualTo(PenaltyStore.Listed.Outcome.LIFTED);
			await().until(() -> penalties.banned() == 0);
			assertThat(server(this.bans).cli("ZCARD", this.bans)).isEqualTo("0");
			assertThat(server(this.state).cli("EXISTS", this.state)).isEqualTo("0");
			assertThat(operators.penalties.banned()).isZero();
		}
	}

	@Test
	void banThatBeginsAfterALiftIsListed() {
		List<PolicyRateLimiter> limiters = limiters(2, TERMS);
		this.fleet.get(1).exchange.lift(caller()).toCompletableFuture().join();
		offend(limiters.get(0), 6);
		awaitListed(1);
		await().until(() -> this.fleet.stream().allMatch((instance) -> instance.penalties.banned() == 1));
	}

	@Test
	void liftThatAnInstanceMissedIsFoundInTheList() {
		List<PolicyRateLimiter> limiters = limiters(1, FOR_A_DAY);
		offend(limiters.get(0), 6);
		awaitListed(1);
		await().until(() -> this.fleet.get(0).penalties.banned() == 1);
		server(this.bans).cli("DEL", this.bans);
		await().until(() -> {
			pass(Duration.ofSeconds(1));
			this.fleet.get(0).exchange.missed();
			return this.fleet.get(0).penalties.banned() == 0;
		});
	}

	@Test
	void banAndItsEndInRealTime() {
		redis();
		Instance instance = new Instance(System::nanoTime);
		this.fleet.add(instance);
		Penalty forASecond = new Penalty(1, Duration.ofSeconds(1), Duration.ofSeconds(1), 2, Duration.ofSeconds(1), 0);
		PolicyRateLimiter limiter = limiter(perUser("1/d").penalty(forASecond).build(), redis(), this.keys,
				instance.penalties);
		await().until(() -> check(limiter, ANN).reason() == Decision.Reason.BAN);
		await().until(() -> check(limiter, ANN).reason() == Decision.Reason.LIMITS);
	}

	@Test
	void everyKeyExpires() {
		List<PolicyRateLimiter> limiters = limiters(1, TERMS);
		offend(limiters.get(0), 6);
		awaitListed(1);
		assertThat(Long.parseLong(server(this.state).cli("PTTL", this.state))).isBetween(1L, 61_000L);
		assertThat(Long.parseLong(server(this.bans).cli("PTTL", this.bans))).isPositive();
		assertThat(Long.parseLong(server(this.bans).cli("PTTL", this.bans + ":revision"))).isPositive();
		this.fleet.get(0).exchange.lift(caller()).toCompletableFuture().join();
		assertThat(Long.parseLong(server(this.bans).cli("PTTL", this.bans + ":lifted"))).isBetween(1L, 60_000L);
	}

	@Test
	void foreignValueInTheKeyIsReplaced() {
		List<PolicyRateLimiter> limiters = limiters(1, TERMS);
		server(this.state).cli("SET", this.state, "nonsense");
		offend(limiters.get(0), 6);
		awaitListed(1);
	}

	@Test
	void listHasTenThousandBansAndFurtherOnesAreFoundNextToTheirCounter() {
		RedisCounters counters = redis();
		fill(PenaltyStore.MOST_BANS);
		List<PolicyRateLimiter> limiters = limiters(2, FOR_A_DAY, counters);
		awaitKnown(PenaltyStore.MOST_BANS);
		offend(limiters.get(0), 6);
		await().until(() -> this.fleet.get(0).began.contains(PenaltyListener.Kind.BAN));
		awaitListed(PenaltyStore.MOST_BANS);
		awaitBanned(limiters.get(1));
	}

	@Test
	void banThatTheListHasNoRoomForIsFoundUntilItEnds() {
		RedisCounters counters = redis();
		fill(PenaltyStore.MOST_BANS - 1);
		// A cool-down is known to all, and a request during it would find the ban.
		Penalty bansOnly = new Penalty(1_000, Duration.ofSeconds(10), Duration.ofSeconds(15), 6, Duration.ofDays(1), 0);
		List<PolicyRateLimiter> limiters = limiters(2, bansOnly, counters);
		awaitKnown(PenaltyStore.MOST_BANS - 1);
		// The list fills while the instances run.
		offend(limiters.get(0), BOB, 6);
		awaitListed(PenaltyStore.MOST_BANS);
		offend(limiters.get(0), 6);
		awaitBanned(limiters.get(1));
		server(this.bans).cli("ZREMRANGEBYRANK", this.bans, "0", "9");
		PolicyRateLimiter later = limiters(1, bansOnly, counters).get(0);
		await().until(() -> this.fleet.get(2).penalties.banned() >= PenaltyStore.MOST_BANS - 10);
		awaitBanned(later);
	}

	@Test
	void bansOutliveTheLossOfTheListAndAreLifted() {
		List<PolicyRateLimiter> limiters = limiters(2, FOR_A_DAY);
		offend(limiters.get(0), 6);
		awaitListed(1);
		awaitKnown(1);
		server(this.bans).cli("DEL", this.bans, this.bans + ":revision");
		// Who knows this one has read the list that is left.
		fill(1);
		this.fleet.forEach((one) -> one.exchange.missed());
		awaitKnown(2);
		limiters.forEach((limiter) -> assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.BAN));
		this.fleet.get(1).exchange.lift(caller()).toCompletableFuture().join();
		await().until(() -> this.fleet.stream().allMatch((one) -> one.penalties.banned() == 1));
	}

	@Test
	void reportWhoseAnswerIsLostIsNotCountedTwice() {
		RedisCounters counters = redis();
		LostAnswers store = new LostAnswers(start().store);
		Penalties penalties = Penalties.shared((policy, kind) -> {
		}, PenaltyContract::isProxy, this::nanos);
		Penalty never = new Penalty(1_000, Duration.ofSeconds(10), Duration.ofMinutes(10), 0, Duration.ofSeconds(60),
				0);
		try (PenaltyExchange exchange = new PenaltyExchange(penalties, store, () -> true)) {
			PolicyRateLimiter limiter = limiter(perUser("1/s").penalty(never).build(), counters.at(micros()), this.keys,
					penalties);
			offend(limiter, 3);
			exchange.start();
			await().until(() -> store.lost.get() > 0);
			assertThat(offences(this.state)).isEqualTo(3);
			store.losing = false;
			pass(Duration.ofSeconds(2));
			offend(limiter, BOB, 1);
			String bob = state("bob");
			await().until(() -> server(bob).cli("EXISTS", bob).equals("1") && offences(bob) == 1);
			assertThat(offences(this.state)).isEqualTo(3);
		}
	}

	private long offences(String state) {
		return Long.parseLong(server(state).cli("GET", state).split(" ")[2]);
	}

	private void fill(int bans) {
		server(this.bans).cli("EVAL",
				"local ends = (redis.call('TIME')[1] + 3600) * 1000 for i = 1, tonumber(ARGV[1]) do "
						+ "redis.call('ZADD', KEYS[1], ends, 'rl:3g:{a}b' .. i .. ' login per-user') end return 1",
				"1", this.bans, Integer.toString(bans));
	}

	/** A list that could not be read in time is read again. */
	private void awaitKnown(int bans) {
		await().until(() -> {
			pass(Duration.ofSeconds(1));
			return this.fleet.stream().allMatch((one) -> one.penalties.banned() == bans);
		});
	}

	/** Waits until a caller that obeys is found to be banned. */
	private void awaitBanned(PolicyRateLimiter limiter) {
		await().until(() -> {
			pass(Duration.ofSeconds(2));
			return check(limiter, ANN).reason() == Decision.Reason.BAN;
		});
	}

	private Verdict report(Instance instance, long offences, long count, long time) {
		Report report = new Report(caller(), TERMS, offences, 0, count, time, time + 1_000_000);
		return Objects.requireNonNull(instance.store.report(List.of(report)).toCompletableFuture().join().get(0));
	}

	private String counter(String user) {
		return this.keys.key("login", Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "1/s"),
				List.of(user));
	}

	private String state(String user) {
		return counter(user).replace(":{", "p:{");
	}

	private CallerKey caller() {
		return new CallerKey(counter("ann"), "login", "per-user");
	}

	private void awaitListed(int bans) {
		await().until(() -> server(this.bans).cli("ZCARD", this.bans).equals(Integer.toString(bans)));
	}

	private List<PolicyRateLimiter> limiters(int number, Penalty terms) {
		return limiters(number, terms, redis());
	}

	private List<PolicyRateLimiter> limiters(int number, Penalty terms, RedisCounters counters) {
		List<PolicyRateLimiter> limiters = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			limiters.add(limiter(perUser("1/s").penalty(terms).build(), counters.at(micros()), this.keys,
					start().penalties));
		}
		return limiters;
	}

	private Instance start() {
		Instance instance = new Instance(this::nanos);
		this.fleet.add(instance);
		await().until(() -> instance.missed.get() > 0);
		return instance;
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(60));
	}

	private static Within within(long seconds) {
		return Within.seconds(seconds);
	}

	private final class Instance {

		private final RedisConnector connector = connector();

		private final RedisSignals signals = RedisSignals.on(this.connector, PenaltyFleetContract.this.prefix);

		final RedisPenalties store = new RedisPenalties(this.connector, this.signals, PenaltyFleetContract.this.prefix);

		final List<PenaltyListener.Kind> began = new CopyOnWriteArrayList<>();

		final AtomicInteger missed = new AtomicInteger();

		final Penalties penalties;

		final PenaltyExchange exchange;

		Instance(LongSupplier nanos) {
			this.penalties = Penalties.shared((policy, kind) -> this.began.add(kind), PenaltyContract::isProxy, nanos);
			this.exchange = new PenaltyExchange(this.penalties, this.store, () -> true);
			this.signals.listen("subscribed", new RedisSignals.Listener() {

				@Override
				public void received(List<String> texts) {
				}

				@Override
				public void missed() {
					Instance.this.missed.incrementAndGet();
				}

			});
			this.connector.start(Duration.ofSeconds(10));
			this.signals.start();
			this.exchange.start();
		}

		void close() {
			this.exchange.close();
			this.signals.close();
			this.connector.close();
		}

	}

	/** Passes everything on. */
	private static class Forwarding implements PenaltyStore {

		private final PenaltyStore store;

		Forwarding(PenaltyStore store) {
			this.store = store;
		}

		@Override
		public CompletionStage<List<Verdict>> report(List<Report> reports) {
			return this.store.report(reports);
		}

		@Override
		public CompletionStage<Listed> list(Ban ban, long known) {
			return this.store.list(ban, known);
		}

		@Override
		public CompletionStage<Void> lift(CallerKey caller) {
			return this.store.lift(caller);
		}

		@Override
		public CompletionStage<Long> revision() {
			return this.store.revision();
		}

		@Override
		public CompletionStage<Bans> bans() {
			return this.store.bans();
		}

		@Override
		public void listen(Listener listener) {
			this.store.listen(listener);
		}

	}

	/**
	 * A store whose answers come after an operator has lifted the ban that they report.
	 */
	private static final class LiftedMeanwhile extends Forwarding {

		private final Runnable lift;

		private final List<PenaltyStore.Listed> listed;

		LiftedMeanwhile(PenaltyStore store, Runnable lift, List<PenaltyStore.Listed> listed) {
			super(store);
			this.lift = lift;
			this.listed = listed;
		}

		@Override
		public CompletionStage<List<Verdict>> report(List<Report> reports) {
			return super.report(reports).thenApplyAsync((verdicts) -> {
				if (verdicts.stream().anyMatch((verdict) -> verdict.began() == PenaltyListener.Kind.BAN)) {
					this.lift.run();
				}
				return verdicts;
			});
		}

		@Override
		public CompletionStage<Listed> list(Ban ban, long known) {
			return super.list(ban, known).thenApply((outcome) -> {
				this.listed.add(outcome);
				return outcome;
			});
		}

	}

	/** A store whose answers to reports are lost. */
	private static final class LostAnswers extends Forwarding {

		final AtomicInteger lost = new AtomicInteger();

		volatile boolean losing = true;

		LostAnswers(PenaltyStore store) {
			super(store);
		}

		@Override
		public CompletionStage<List<Verdict>> report(List<Report> reports) {
			return super.report(reports).thenApply((verdicts) -> {
				if (this.losing) {
					this.lost.incrementAndGet();
					throw new IllegalStateException("the answer is lost");
				}
				return verdicts;
			});
		}

	}

	private record CoolDowns(List<Duration> heard) implements PenaltyStore.Listener {

		@Override
		public void coolDown(CallerKey caller, Duration left) {
			this.heard.add(left);
		}

		@Override
		public void ban(long revision, CallerKey caller, Duration left) {
		}

		@Override
		public void unlisted(long revision, Duration left) {
		}

		@Override
		public void missed() {
		}

	}

}
