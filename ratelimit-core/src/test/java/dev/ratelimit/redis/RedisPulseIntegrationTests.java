package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class RedisPulseIntegrationTests extends PulseContract {

	private static RedisClient client;

	@BeforeAll
	static void open() {
		client = RedisClient.create(RedisServers.standalone().uri());
		client.setOptions(ClientOptions.builder()
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.build());
	}

	@AfterAll
	static void close() {
		client.shutdownAsync();
	}

	@Override
	RedisConnector connector() {
		return RedisConnector.to(client, "redis");
	}

	@Override
	RedisServer server() {
		return RedisServers.standalone();
	}

	@Test
	void oneThatDiesWithoutGoodbyeIsGoneWithinFiveSeconds() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.fleet.size() == 2);
		other.die();
		this.members.remove(other);
		within(5).until(() -> one.fleet.size() == 1);
	}

	@Test
	void oneThatComesBackIsCountedAgain() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.fleet.size() == 2);
		other.pulse.close();
		within(5).until(() -> one.fleet.size() == 1);
		other.start();
		within(5).until(() -> one.fleet.size() == 2);
	}

	@Test
	void instancesOfAnotherRegionAreNotCounted() {
		Member one = join();
		Member elsewhere = join("eu");
		within(5).until(() -> one.complete && elsewhere.complete);
		assertThat(List.of(one.fleet.size(), elsewhere.fleet.size())).containsOnly(1);
	}

	@Test
	void switchGoesOffByItselfEverywhere() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW.withLeft(Duration.ofSeconds(2))).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		within(3).until(() -> one.modeSwitch.mode() == null && other.modeSwitch.mode() == null);
		within(1).until(() -> server().cli("EXISTS", SWITCH).equals("0"));
	}

	@Test
	void switchSurvivesARedisThatIsKilledAndStartsEmpty() {
		Member one = join();
		Member other = join();
		within(5).until(() -> other.beats() > 0);
		one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		server().kill();
		server().restart();
		await().atMost(Duration.ofMinutes(1)).until(() -> server().cli("GET", SWITCH).startsWith("allow"));
		int before = other.beats();
		await().atMost(Duration.ofMinutes(1)).until(() -> other.beats() > before + 2);
		assertThat(server().cli("GET", SWITCH).lines()).containsExactly("allow", "ann", "incident 7");
		assertThat(Long.parseLong(server().cli("PTTL", SWITCH))).isBetween(3_400_000L, 3_600_000L);
		assertThat(one.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		assertThat(other.modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
		other.modeSwitch.turnOff().toCompletableFuture().join();
		await().atMost(Duration.ofMinutes(1)).until(() -> one.modeSwitch.mode() == null);
	}

	@Test
	void switchSetByHandGetsAnEnd() {
		Member one = join();
		server().cli("SET", SWITCH, "deny");
		within(2).until(() -> one.modeSwitch.mode() == FailureMode.DENY);
		assertThat(one.modeSwitch.forced().actor()).isEqualTo("unknown");
		assertThat(Long.parseLong(server().cli("PTTL", SWITCH))).isBetween(1L, ForcedMode.USUAL.toMillis());
	}

	@Test
	void whatNamesNoModeIsNoSwitch() {
		server().cli("SET", SWITCH, "alow");
		Member one = join();
		within(5).until(() -> one.beats() > 1);
		assertThat(one.modeSwitch.mode()).isNull();
	}

	@Test
	void foreignValueInPlaceOfTheSwitchDoesNotStopTheHeartbeat() {
		server().cli("RPUSH", SWITCH, "x");
		Member one = join();
		within(5).until(() -> one.beats() > 1);
		assertThat(one.modeSwitch.mode()).isNull();
	}

	@Test
	void outageKeepsTheLastNumberAndTheSwitchUntilItsEnd() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.complete && one.fleet.size() == 2);
		one.modeSwitch.turnOn(ALLOW.withLeft(Duration.ofSeconds(4))).toCompletableFuture().join();
		within(1).until(() -> other.modeSwitch.mode() == FailureMode.ALLOW);
		server().freeze();
		int before = one.beats();
		within(8).until(() -> one.modeSwitch.mode() == null && other.modeSwitch.mode() == null);
		assertThat(one.beats()).isLessThanOrEqualTo(before + 1);
		assertThat(List.of(one.fleet.size(), other.fleet.size())).containsOnly(2);
		server().thaw();
		within(5).until(() -> one.beats() > before + 1);
	}

	@Test
	void switchCannotBeSetWhileRedisDoesNotAnswer() {
		Member one = join();
		within(5).until(() -> one.beats() > 0);
		server().freeze();
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> one.modeSwitch.turnOn(ALLOW).toCompletableFuture().join())
			.withMessageContaining("ratelimit.switch.mode");
		assertThat(one.modeSwitch.mode()).isNull();
		server().thaw();
	}

	@Test
	void lossOfAllDataDoesNotMakeTheFleetLookSmall() {
		Member one = join();
		Member other = join();
		within(5).until(() -> one.complete && other.complete && one.fleet.size() == 2 && other.fleet.size() == 2);
		one.sizes.clear();
		other.sizes.clear();
		server().flush();
		within(10).until(() -> one.sizes.size() > 8 && one.complete && other.complete);
		assertThat(one.sizes).containsOnly(2);
		assertThat(other.sizes).containsOnly(2);
	}

	@Test
	void beatsFromAClockThatWasSetBackDoNotStay() {
		server().cli("ZADD", INSTANCES, String.valueOf(System.currentTimeMillis() + 3_600_000), "dead");
		Member one = join();
		within(5).until(() -> one.complete);
		assertThat(one.fleet.size()).isOne();
	}

}
