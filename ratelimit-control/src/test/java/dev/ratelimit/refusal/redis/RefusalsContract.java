package dev.ratelimit.refusal.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.refusal.Refusal;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalQuery;
import dev.ratelimit.refusal.Refusals;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

/**
 * What holds for the history of refusals on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class RefusalsContract {

	static final String HISTORY = "rl:{refusals}:history";

	private RedisConnector connector;

	private RedisConnector reader;

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	/** The server that holds the history. */
	abstract RedisServer server();

	@BeforeEach
	void connect() {
		this.connector = connector();
		assertThat(this.connector.start(Duration.ofSeconds(10))).isTrue();
	}

	@AfterEach
	void end() {
		this.connector.close();
		if (this.reader != null) {
			this.reader.close();
		}
	}

	@Test
	void requestThatWasAdmittedBeforeIsFoundAsAReplay() {
		RefusalHistory history = history(1_000, Duration.ofHours(24));
		Refusal replay = Refusals.replay(Instant.now());
		add(history, List.of(replay));
		assertThat(find(history, query(Map.of(), null, 10)).refusals()).singleElement()
			.satisfies((found) -> assertThat(found.verdict()).isEqualTo(replay.verdict()))
			.satisfies((found) -> assertThat(found.describe()).containsEntry("replay", true));
	}

	@Test
	void everyPartOfARefusalIsFoundAgain() {
		RefusalHistory history = history(1_000, Duration.ofHours(24));
		Instant time = Instant.now().minusSeconds(2);
		Refusal full = Refusals.full(time, "ann");
		Refusal sparse = Refusals.sparse(time, 49_997, Duration.ofSeconds(64));
		add(history, List.of(full, sparse));
		List<Refusal> found = find(history, query(Map.of(), null, 10)).refusals();
		assertThat(found.stream().map((refusal) -> Refusals.at(time, refusal))).containsExactly(sparse, full);
		// On Redis's clock, which here is ours.
		assertThat(found.get(0).time()).isCloseTo(time, within(1, ChronoUnit.SECONDS));
	}

	@Test
	void callerIsFoundAmongOthersAndAroundATime() {
		RefusalHistory history = history(10_000, Duration.ofHours(24));
		Instant time = Instant.now();
		List<Refusal> others = new ArrayList<>();
		for (int i = 0; i < 1_200; i++) {
			others.add(Refusals.full(time, "u" + i));
		}
		add(history, others.subList(0, 600));
		add(history, List.of(Refusals.full(time.minusSeconds(30), "ann")));
		add(history, others.subList(600, 1_200));
		Map<String, List<String>> ann = Map.of("tenant", List.of("t-acme"), "user", List.of("u-old", "u-ann"));
		assertThat(find(history, query(ann, null, 10)).refusals()).singleElement();
		Instant at = time.minusSeconds(30);
		assertThat(find(history, new RefusalQuery("orders", ann, at.minusSeconds(5), at.plusSeconds(5), null, 10))
			.refusals()).hasSize(1);
		assertThat(find(history, new RefusalQuery("orders", ann, at.minusSeconds(60), at.minusSeconds(5), null, 10))
			.refusals()).isEmpty();
		assertThat(find(history, new RefusalQuery("other", ann, null, null, null, 10)).refusals()).isEmpty();
	}

	@Test
	void pagesHaveEveryEntryOnce() {
		RefusalHistory history = history(10_000, Duration.ofHours(24));
		List<Refusal> all = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			all.add(Refusals.full(Instant.now(), "u" + i));
		}
		add(history, all);
		List<String> users = new ArrayList<>();
		String before = null;
		do {
			RefusalHistory.Page page = find(history, query(Map.of(), before, 10));
			page.refusals().forEach((refusal) -> users.add(refusal.caller().get("user")));
			before = page.next();
		}
		while (before != null && users.size() < 100);
		assertThat(users).hasSize(25).doesNotHaveDuplicates().startsWith("u-u24").endsWith("u-u0");
	}

	@Test
	void newestAreKeptWhenThereAreTooMany() {
		RefusalHistory history = history(50, Duration.ofHours(24));
		for (int i = 0; i < 30; i++) {
			add(history, List.of(Refusals.full(Instant.now(), "a" + i), Refusals.full(Instant.now(), "b" + i),
					Refusals.full(Instant.now(), "c" + i)));
		}
		assertThat(server().cli("XLEN", HISTORY)).isEqualTo("50");
		assertThat(find(history, query(Map.of(), null, 1)).refusals().get(0).caller()).containsEntry("user", "u-c29");
	}

	@Test
	void whatIsTooOldGoesWithTheNextAndTheRestByItself() {
		RefusalHistory history = history(1_000, Duration.ofMillis(1_500));
		Instant first = Instant.now();
		add(history, List.of(Refusals.full(first, "old")));
		assertThat(Long.parseLong(server().cli("PTTL", HISTORY))).isBetween(1L, 1_500L);
		await().atMost(Duration.ofSeconds(5)).until(() -> {
			add(history, List.of(Refusals.full(Instant.now(), "new")));
			return find(history, query(Map.of("user", List.of("u-old")), null, 10)).refusals().isEmpty();
		});
		assertThat(Duration.between(first, Instant.now())).isGreaterThanOrEqualTo(Duration.ofMillis(1_400));
		await().atMost(Duration.ofSeconds(5)).until(() -> server().cli("EXISTS", HISTORY).equals("0"));
	}

	@Test
	void scriptThatRedisForgotIsSentAgain() {
		RefusalHistory history = history(1_000, Duration.ofHours(24));
		add(history, List.of(Refusals.full(Instant.now(), "ann")));
		server().cli("SCRIPT", "FLUSH");
		add(history, List.of(Refusals.full(Instant.now(), "bob")));
		assertThat(server().cli("XLEN", HISTORY)).isEqualTo("2");
	}

	@Test
	void foreignEntriesAreNotShown() {
		RefusalHistory history = history(1_000, Duration.ofHours(24));
		server().cli("XADD", HISTORY, "*", "t", "x", "r", "y");
		server().cli("XADD", HISTORY, "*", "z", "1");
		add(history, List.of(Refusals.full(Instant.now(), "ann")));
		assertThat(find(history, query(Map.of(), null, 10)).refusals()).hasSize(1);
	}

	@Test
	void looksHaveOneConnectionOfTheirOwnHoweverManyThereAre() {
		RefusalHistory history = history(10_000, Duration.ofHours(24));
		add(history, List.of(Refusals.full(Instant.now(), "ann")));
		List<CompletionStage<RefusalHistory.Page>> looks = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			looks.add(history.find(query(Map.of(), null, 10)));
		}
		looks.forEach((look) -> assertThat(look.toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join().refusals())
			.hasSize(1));
		List<String> clients = server().cli("CLIENT", "LIST").lines().toList();
		assertThat(clients).filteredOn((client) -> client.contains(" cmd=xrevrange ")).hasSize(1);
		assertThat(clients).filteredOn((client) -> client.matches(".* cmd=(evalsha|eval|script\\|load) .*"))
			.isNotEmpty();
	}

	@Test
	void looksThatAreTooManyFailAtOnceAndOthersDoNot() {
		RefusalHistory history = history(10_000, Duration.ofHours(24));
		List<CompletionStage<RefusalHistory.Page>> looks = new ArrayList<>();
		for (int i = 0; i < 3 * RedisRefusals.MAX_WAITING; i++) {
			looks.add(history.find(query(Map.of(), null, 10)));
		}
		assertThat(looks).filteredOn((look) -> look.toCompletableFuture().isCompletedExceptionally()).isNotEmpty();
		looks.get(0).toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
		await().untilAsserted(() -> assertThat(find(history, query(Map.of(), null, 10)).refusals()).isEmpty());
	}

	@Test
	void historyThatIsNotThereFailsAtOnce() {
		RefusalHistory history = history(1_000, Duration.ofHours(24));
		this.connector.close();
		this.reader.close();
		assertThatThrownBy(() -> add(history, List.of(Refusals.full(Instant.now(), "ann")))).isNotNull();
		assertThatThrownBy(() -> find(history, query(Map.of(), null, 10))).isNotNull();
	}

	private RefusalHistory history(int maxEntries, Duration retention) {
		this.reader = connector();
		return new RedisRefusals(RedisSender.on(this.connector), this.reader, "rl", maxEntries, retention,
				InstantSource.system());
	}

	private static RefusalQuery query(Map<String, List<String>> caller, String before, int limit) {
		return new RefusalQuery(null, caller, null, null, before, limit);
	}

	private static void add(RefusalHistory history, List<Refusal> refusals) {
		history.add(refusals).toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
	}

	private static RefusalHistory.Page find(RefusalHistory history, RefusalQuery query) {
		return history.find(query).toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
	}

}
