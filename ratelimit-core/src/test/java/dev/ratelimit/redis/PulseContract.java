package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.HeartbeatListener;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for the pulse on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class PulseContract {

	static final String INSTANCES = "rl:{fleet}:instances:local";

	static final String SWITCH = "rl:{fleet}:switch";

	static final ForcedMode ALLOW = new ForcedMode(FailureMode.ALLOW, Duration.ofHours(1), "ann", "incident 7");

	final List<Member> members = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	/** The server that holds the keys. */
	abstract RedisServer server();

	@AfterEach
	void end() {
		this.members.forEach(Member::close);
	}

	@Test
	void instancesSeeEachOther() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.fleet.size() == 2 && other.fleet.size() == 2);
	}

	@Test
	void oneThatSaysGoodbyeIsGoneAtOnce() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.complete && other.complete);
		other.close();
		this.members.remove(other);
		assertThat(server().cli("ZRANGE", INSTANCES, "0", "-1")).isEqualTo(one.fleet.instance());
		within(1).until(() -> one.fleet.size() == 1);
	}

	@Test
	void switchIsObeyedByTheOthersWithinASecond() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		assertThat(one.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		assertThat(other.modeSwitch.forced()).satisfies((forced) -> {
			assertThat(forced.left()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
			assertThat(forced.actor()).isEqualTo("ann");
			assertThat(forced.reason()).isEqualTo("incident 7");
		});
		other.modeSwitch.turnOff().toCompletableFuture().join();
		within(1).until(() -> one.modeSwitch.mode() == null);
	}

	@Test
	void switchThatRedisHasLostIsWrittenAgainWithActorReasonAndEnd() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		server().flush();
		int before = other.beats();
		within(5).until(() -> other.beats() > before + 2 && server().cli("GET", SWITCH).startsWith("allow"));
		assertThat(server().cli("GET", SWITCH).lines()).containsExactly("allow", "ann", "incident 7");
		assertThat(Long.parseLong(server().cli("PTTL", SWITCH))).isBetween(3_500_000L, 3_600_000L);
		assertThat(one.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		assertThat(other.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
	}

	@Test
	void switchThatWasTurnedOffIsNotRevivedByAnInstanceThatWasAway() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		other.pulse.close();
		one.modeSwitch.turnOff().toCompletableFuture().join();
		assertThat(server().cli("GET", SWITCH)).isEqualTo("off");
		assertThat(Long.parseLong(server().cli("PTTL", SWITCH))).isBetween(3_500_000L, 3_600_000L);
		assertThat(other.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		other.pulse.start(other);
		within(2).until(() -> other.modeSwitch.mode() == null);
		assertThat(one.modeSwitch.mode()).isNull();
		assertThat(server().cli("GET", SWITCH)).isEqualTo("off");
	}

	@Test
	void switchThatAShorterOneReplacedIsNotRevivedByAnInstanceThatWasAway() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		other.pulse.close();
		one.modeSwitch.turnOn(ALLOW.withLeft(Duration.ofMillis(100))).toCompletableFuture().join();
		within(5).until(() -> server().cli("EXISTS", SWITCH).equals("0"));
		other.pulse.start(other);
		within(2).until(() -> other.modeSwitch.mode() == null);
		assertThat(server().cli("EXISTS", SWITCH)).isEqualTo("0");
	}

	@Test
	void switchIsTurnedOffAlsoAfterRedisHasLostIt() {
		Member one = join();
		within(5).until(() -> one.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		server().flush();
		one.modeSwitch.turnOff().toCompletableFuture().join();
		assertThat(server().cli("GET", SWITCH)).isEqualTo("off");
		int before = one.beats();
		within(5).until(() -> one.beats() > before + 1);
		assertThat(one.modeSwitch.mode()).isNull();
	}

	@Test
	void revisionsOfLiveInstancesAreKnownToTheOthers() {
		Member one = join();
		Member other = join();
		one.pulse.revision(() -> 812);
		within(5).until(() -> other.pulse.revisions()
			.toCompletableFuture()
			.join()
			.equals(Map.of(one.fleet.instance(), 812L, other.fleet.instance(), 0L)));
		one.close();
		this.members.remove(one);
		within(5).until(
				() -> other.pulse.revisions().toCompletableFuture().join().equals(Map.of(other.fleet.instance(), 0L)));
	}

	@Test
	void lostScriptIsSentAgain() {
		Member one = join();
		within(5).until(() -> one.beats() > 0);
		server().cli("SCRIPT", "FLUSH");
		int before = one.beats();
		within(5).until(() -> one.beats() > before + 1);
	}

	@Test
	void keysExpire() {
		Member one = join();
		within(5).until(() -> one.beats() > 0);
		assertThat(Long.parseLong(server().cli("PTTL", INSTANCES))).isBetween(1L, 6_000L);
	}

	Member join() {
		return join("local");
	}

	Member join(String region) {
		Member member = new Member(connector(), region);
		this.members.add(member);
		member.start();
		return member;
	}

	static Within within(int seconds) {
		return Within.seconds(seconds);
	}

	/** What an instance of an application has of it. */
	static final class Member implements HeartbeatListener {

		final Fleet fleet = new Fleet(1);

		final List<Integer> sizes = new CopyOnWriteArrayList<>();

		final RedisConnector connector;

		final RedisPulse pulse;

		final ModeSwitch modeSwitch;

		volatile boolean complete;

		private volatile int beats;

		Member(RedisConnector connector, String region) {
			this.connector = connector;
			this.pulse = RedisPulse.on(connector, "rl", region, this.fleet.instance());
			this.modeSwitch = new ModeSwitch(null, this.pulse, System::nanoTime);
		}

		void start() {
			this.pulse.start(this);
			this.connector.start(Duration.ofSeconds(10));
		}

		int beats() {
			return this.beats;
		}

		@Override
		public synchronized void heartbeat(int instances, boolean complete, boolean recorded,
				@Nullable ForcedMode forced) {
			if (complete) {
				this.fleet.seen(instances);
			}
			else {
				this.fleet.seenAtLeast(instances);
			}
			if (recorded) {
				this.modeSwitch.seen(forced);
			}
			else {
				this.modeSwitch.notRecorded();
			}
			this.complete = complete;
			this.sizes.add(this.fleet.size());
			this.beats++;
		}

		/** Its connection is cut before it can say anything. */
		void die() {
			this.connector.close();
			this.pulse.close();
		}

		void close() {
			this.pulse.close();
			this.connector.close();
		}

	}

}
