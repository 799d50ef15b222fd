package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.testing.CapturedLog;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

import static dev.ratelimit.counter.Grants.answered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of checks when Redis answers with an error, is no primary, forgets or
 * falls silent.
 */
class RedisErrorsIntegrationTests {

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.USER), "1000/d");

	/** Longer than a busy machine pauses, for what is to be answered. */
	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(10);

	private final CounterKeys keys = new CounterKeys("rl");

	private final ClientResources resources = ClientSettings.resources(ClientResources.create());

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final List<AutoCloseable> open = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.open) {
			closeable.close();
		}
		this.deadlines.close();
		this.resources.shutdown();
	}

	@Test
	void memoryThatIsFullIsAReasonOfItsOwn() {
		RedisServer redis = server();
		Counters counters = counters(redis.uri());
		take(counters, "ann");
		redis.cli("CONFIG", "SET", "maxmemory-policy", "noeviction");
		redis.cli("CONFIG", "SET", "maxmemory", "1");
		assertThat(failure(counters, "bob", ANSWER_TIMEOUT)).isEqualTo(Decision.Reason.OUT_OF_MEMORY);
		redis.cli("CONFIG", "SET", "maxmemory", "0");
		assertThat(take(counters, "bob").permits()).isOne();
	}

	@Test
	void evictionOfCountersIsNoError() {
		RedisServer redis = server();
		Counters counters = counters(redis.uri());
		redis.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
		redis.cli("CONFIG", "SET", "maxmemory", "2mb");
		for (int i = 0; i < 20_000; i += 100) {
			List<CompletableFuture<Grant>> grants = IntStream.range(i, i + 100)
				.mapToObj((user) -> acquire(counters, "user" + user, ANSWER_TIMEOUT))
				.toList();
			assertThat(grants).allSatisfy((grant) -> assertThat(answered(grant).permits()).isOne());
		}
		assertThat(Integer.parseInt(redis.cli("DBSIZE"))).isLessThan(20_000);
	}

	@Test
	void primaryThatBecomesAReplicaIsNotUsedUntilItIsAPrimaryAgain() {
		RedisServer redis = server();
		RedisServer other = server();
		Counters counters = counters(redis.uri());
		take(counters, "ann");
		redis.cli("REPLICAOF", other.host(), String.valueOf(other.port()));
		assertThat(failure(counters, "ann", ANSWER_TIMEOUT)).isEqualTo(Decision.Reason.READ_ONLY);
		await().until(() -> failure(counters, "ann") == Decision.Reason.UNAVAILABLE);
		redis.cli("REPLICAOF", "NO", "ONE");
		await().until(() -> failure(counters, "ann") == null);
	}

	@Test
	void replicaIsNeverAskedNotEvenForARefusal() {
		RedisServer primary = server();
		RedisServer replica = server();
		replica.cli("REPLICAOF", primary.host(), String.valueOf(primary.port()));
		RedisConnector connector = connector(replica.uri());
		assertThat(connector.start(Duration.ofSeconds(2))).isFalse();
		Counters counters = guarded(connector);
		assertThat(failure(counters, "ann", ANSWER_TIMEOUT)).isEqualTo(Decision.Reason.UNAVAILABLE);
		assertThat(replica.cli("INFO", "commandstats")).doesNotContain("cmdstat_evalsha");
	}

	@Test
	void serverThatReadsItsDataIsAReasonOfItsOwn() {
		RedisServer redis = RedisServer.start("--enable-debug-command", "yes", "--key-load-delay", "2000",
				"--loading-process-events-interval-bytes", "1024");
		this.open.add(redis);
		Counters counters = counters(redis.uri());
		take(counters, "ann");
		redis.cli("DEBUG", "POPULATE", "1000", "filler", "100");
		CompletableFuture<String> reload = CompletableFuture.supplyAsync(() -> redis.cli("DEBUG", "RELOAD"));
		await().pollInterval(Duration.ofMillis(5))
			.until(() -> failure(counters, "ann") == Decision.Reason.LOADING || reload.isDone());
		assertThat(reload).isNotDone();
		reload.join();
		await().until(() -> failure(counters, "ann") == null);
	}

	@Test
	void userWithoutPermissionIsAReasonOfItsOwn() {
		RedisServer redis = server();
		redis.cli("ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all");
		Counters counters = counters(
				RedisURI.Builder.redis(redis.host(), redis.port()).withAuthentication("limited", "secret").build());
		take(counters, "ann");
		redis.cli("ACL", "SETUSER", "limited", "-evalsha");
		assertThat(failure(counters, "ann", ANSWER_TIMEOUT)).isEqualTo(Decision.Reason.FORBIDDEN);
	}

	@ParameterizedTest
	@ValueSource(strings = { "setrange", "msetnx", "pexpireat", "setrange msetnx pexpireat" })
	void commandsThatOnlySaveTimeMayBeForbidden(String commands) {
		RedisServer redis = server();
		redis.cli("ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all");
		Counters counters = counters(
				RedisURI.Builder.redis(redis.host(), redis.port()).withAuthentication("limited", "secret").build());
		take(counters, "ann");
		for (String command : commands.split(" ")) {
			redis.cli("ACL", "SETUSER", "limited", "-" + command);
		}
		try (CapturedLog log = new CapturedLog(ForbiddenCommands.class.getName())) {
			take(counters, "ann");
			take(counters, "bob");
			take(counters, "bob");
			// A lone check uses SET for a new counter anyway, one of several does not.
			answered(counters.acquire(List.of(counter("cid"), counter("dan")), Permits.exactly(1), ANSWER_TIMEOUT)
				.toCompletableFuture());
			assertThat(remaining(counters, "ann")).isEqualTo(998);
			assertThat(remaining(counters, "bob")).isEqualTo(998);
			assertThat(remaining(counters, "dan")).isEqualTo(999);
			assertThat(log.lines()).singleElement().asString().contains("+setrange +msetnx +pexpireat");
		}
		List<String> keys = redis.cli("KEYS", "*").lines().toList();
		assertThat(keys).hasSize(4).allSatisfy((key) -> assertThat(redis.cli("PTTL", key)).doesNotStartWith("-"));
	}

	@Test
	void scriptsThatAreFlushedUnderLoadCostNoCallAndNoPermit() {
		RedisServer redis = server();
		Counters counters = counters(redis.uri());
		take(counters, "ann");
		List<CompletableFuture<Grant>> grants = new ArrayList<>();
		IntStream.range(0, 200).forEach((i) -> grants.add(acquire(counters, "ann", ANSWER_TIMEOUT)));
		redis.cli("SCRIPT", "FLUSH");
		IntStream.range(0, 200).forEach((i) -> grants.add(acquire(counters, "ann", ANSWER_TIMEOUT)));
		assertThat(grants).allSatisfy((grant) -> assertThat(answered(grant).permits()).isOne());
		assertThat(remaining(counters, "ann")).isEqualTo(1000 - 401);
	}

	@Test
	void connectionThatBreaksUnderLoadCountsNothingTwice() {
		RedisServer redis = server();
		Counters counters = counters(redis.uri());
		take(counters, "ann");
		int admitted = 1;
		int unanswered = 0;
		for (int round = 0; round < 5; round++) {
			List<CompletableFuture<Grant>> grants = IntStream.range(0, 50)
				.mapToObj((i) -> acquire(counters, "ann"))
				.toList();
			redis.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
			for (CompletableFuture<Grant> grant : grants) {
				admitted += grant.join().complete() ? 1 : 0;
				unanswered += grant.join().complete() ? 0 : 1;
			}
			await().until(() -> failure(counters, "bob") == null);
		}
		assertThat(1000 - remaining(counters, "ann")).isBetween((long) admitted, (long) admitted + unanswered);
	}

	@Test
	void callsWhoseAnswersAreLostWithTheConnectionAreNotSentAgain() {
		RedisServer redis = server();
		ChaosProxy proxy = ChaosProxy.before(redis);
		this.open.add(0, proxy);
		Counters counters = counters(proxy.uri());
		Counters besides = counters(redis.uri());
		take(counters, "ann");
		proxy.delayReplies(Duration.ofMinutes(1), Duration.ZERO);
		CompletableFuture<Grant> lost = acquire(counters, "ann");
		CompletableFuture<Grant> lostToo = acquire(counters, "ann");
		await().until(() -> remaining(besides, "ann") == 997);
		proxy.cut();
		assertThat(lost).succeedsWithin(Duration.ofSeconds(5)).returns(false, Grant::complete);
		assertThat(lostToo).succeedsWithin(Duration.ofSeconds(5)).returns(false, Grant::complete);
		await().until(() -> failure(counters, "bob") == null);
		assertThat(remaining(besides, "ann")).isEqualTo(997);
	}

	@Test
	void deadConnectionIsReplaced() {
		RedisServer redis = server();
		ChaosProxy proxy = ChaosProxy.before(redis);
		this.open.add(0, proxy);
		Counters counters = counters(proxy.uri());
		take(counters, "ann");
		proxy.swallow();
		assertThat(failure(counters, "ann")).isEqualTo(Decision.Reason.TIMEOUT);
		proxy.heal();
		await().atMost(Duration.ofSeconds(30)).until(() -> failure(counters, "ann") == null);
	}

	private RedisServer server() {
		RedisServer server = RedisServer.start();
		this.open.add(server);
		return server;
	}

	private RedisConnector connector(RedisURI uri) {
		uri.setTimeout(ClientSettings.COMMAND_TIMEOUT);
		RedisClient client = RedisClient.create(this.resources, uri);
		client.setOptions(ClientSettings.options(ClientOptions.create()));
		RedisConnector connector = RedisConnector.to(client, "redis");
		this.open.add(0, connector);
		return connector;
	}

	private Counters counters(RedisURI uri) {
		RedisConnector connector = connector(uri);
		assertThat(connector.start(Duration.ofSeconds(10))).isTrue();
		return guarded(connector);
	}

	private Counters guarded(RedisConnector connector) {
		Nodes nodes = new Nodes(new BreakerOptions(100, Duration.ofSeconds(10), 1_000_000, Duration.ofSeconds(1)),
				CircuitBreakerRegistry.ofDefaults(), List.of());
		return new GuardedCounters(RedisCounters.on(connector), nodes, this.deadlines, Duration.ZERO);
	}

	private Counter counter(String user) {
		return new Counter(new CounterSpec(Algorithm.GCRA, PER_USER),
				this.keys.key("orders", Algorithm.GCRA, PER_USER, List.of(user)));
	}

	private CompletableFuture<Grant> acquire(Counters counters, String user) {
		return acquire(counters, user, Duration.ofMillis(500));
	}

	private CompletableFuture<Grant> acquire(Counters counters, String user, Duration timeout) {
		return counters.acquire(List.of(counter(user)), Permits.exactly(1), timeout).toCompletableFuture();
	}

	private Grant take(Counters counters, String user) {
		return answered(acquire(counters, user, ANSWER_TIMEOUT));
	}

	private Decision.Reason failure(Counters counters, String user) {
		return failure(counters, user, Duration.ofMillis(500));
	}

	private Decision.Reason failure(Counters counters, String user, Duration timeout) {
		return acquire(counters, user, timeout)
			.thenApply((grant) -> grant.complete() ? null : grant.gaps().get(0).cause().reason())
			.join();
	}

	private long remaining(Counters counters, String user) {
		return counters.acquire(List.of(counter(user)), Permits.NONE)
			.toCompletableFuture()
			.join()
			.statuses()
			.get(0)
			.remaining();
	}

}
