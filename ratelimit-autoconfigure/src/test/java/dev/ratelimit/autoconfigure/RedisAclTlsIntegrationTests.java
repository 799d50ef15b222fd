package dev.ratelimit.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.limiter.CallerState;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.PenaltyExchange;
import dev.ratelimit.penalty.PenaltyStore;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalQuery;
import dev.ratelimit.refusal.RefusalRecorder;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisSentinels;
import dev.ratelimit.testing.RedisServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The limiter as the user of {@code docs/redis.md}, whose commands are read from there:
 * it can do all it has to, is never denied anything, and may do nothing that it does not
 * do.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisAclTlsIntegrationTests {

	private static final List<String> ACL = documented("ACL SETUSER ratelimit reset");

	private static final List<String> ACL_SINCE_7_2 = documented("ACL SETUSER ratelimit +client|setinfo");

	private static final List<String> ACL_OF_SENTINELS = documented("ACL SETUSER ratelimit-lookup reset");

	private static final String PASSWORD = ACL.stream()
		.filter((rule) -> rule.startsWith(">"))
		.findFirst()
		.orElseThrow()
		.substring(1);

	/** Moves the only entry of a log by seconds, as a step of Redis's clock would. */
	private static final String SHIFT_ENTRY = """
			local time, before, cost = struct.unpack('<ddI4', redis.call('RPOP', KEYS[1]))
			redis.call('LPUSH', KEYS[1], struct.pack('<ddI4', time + ARGV[1] * 1000000, before, cost))
			""";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, RedisAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitFleetAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitRefusalsAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.username=ratelimit", "spring.data.redis.password=" + PASSWORD,
				"ratelimit.redis.timeout=5s", "ratelimit.hot.threshold=1",
				"ratelimit.policies.single.algorithm=sliding-window-log", "ratelimit.policies.single.on-failure=deny",
				"ratelimit.policies.single.limits.per-ip.by=ip", "ratelimit.policies.single.limits.per-ip.quota=3/h",
				"ratelimit.policies.login.limits.per-user.by=user",
				"ratelimit.policies.login.limits.per-user.quota=1/d", "ratelimit.policies.login.penalty.after=1",
				"ratelimit.policies.login.penalty.ban-after=2")
		.withPropertyValues(
				Arrays.stream(Algorithm.values()).flatMap(RedisAclTlsIntegrationTests::policy).toArray(String[]::new));

	@Test
	void documentedUserIsEnoughOverTls(@TempDir Path folder) throws Exception {
		SelfSignedCertificate certificate = SelfSignedCertificate.create(folder);
		try (RedisServer redis = RedisServer.start()) {
			allow(redis);
			this.context
				.withPropertyValues("spring.data.redis.host=" + redis.host(),
						"spring.data.redis.port=" + demandTls(redis, certificate), "spring.data.redis.ssl.bundle=redis",
						"spring.ssl.bundle.pem.redis.truststore.certificate=" + certificate.certificate(),
						"spring.ssl.bundle.pem.redis.keystore.certificate=" + certificate.certificate(),
						"spring.ssl.bundle.pem.redis.keystore.private-key=" + certificate.privateKey())
				.run((context) -> {
					useEverything(context, List.of(redis));
					setClock(context, (key) -> redis);
				});
			assertNothingWasDenied(redis);
		}
	}

	@Test
	void documentedUserIsEnoughInAClusterAndHasNoCommandTooMany() {
		try (RedisCluster cluster = RedisCluster.start(Duration.ofSeconds(15))) {
			cluster.servers().forEach(RedisAclTlsIntegrationTests::allow);
			cluster.servers().forEach((node) -> node.cli("CONFIG", "RESETSTAT"));
			this.context
				.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.servers().get(0).port())
				.run((context) -> {
					setClock(context, cluster::primaryOf);
					moveSlot(context, cluster);
					useEverything(context, cluster.servers());
				});
			cluster.servers().forEach(RedisAclTlsIntegrationTests::assertNothingWasDenied);
			assertThat(cluster.servers().stream().flatMap(RedisAclTlsIntegrationTests::commandsUsed))
				.containsAll(commandsAllowed());
		}
	}

	@Test
	void documentedUserIsEnoughBehindSentinels() {
		try (RedisSentinels sentinels = RedisSentinels.start()) {
			allow(sentinels.primary());
			RedisServer sentinel = sentinels.sentinels().get(0);
			sentinel.cli(ACL_OF_SENTINELS.toArray(String[]::new));
			this.context
				.withPropertyValues("spring.data.redis.sentinel.master=" + sentinels.masterId(),
						"spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port(),
						"spring.data.redis.sentinel.username=ratelimit-lookup",
						"spring.data.redis.sentinel.password=" + PASSWORD)
				.run((context) -> useEverything(context, List.of(sentinels.primary())));
			assertNothingWasDenied(sentinel);
			assertNothingWasDenied(sentinels.primary());
		}
	}

	@Test
	void credentialsProviderOfTheApplicationIsAsked() {
		try (RedisServer redis = RedisServer.start()) {
			allow(redis);
			redis.cli("ACL", "SETUSER", "default", "-mget");
			RedisCredentialsProvider provider = () -> Mono
				.just(RedisCredentials.just("ratelimit", PASSWORD.toCharArray()));
			LettuceClientConfiguration client = LettuceClientConfiguration.builder()
				.redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {

					@Override
					public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
						return provider;
					}

				})
				.build();
			this.context
				.withBean(LettuceConnectionFactory.class,
						() -> new LettuceConnectionFactory(new RedisStandaloneConfiguration(redis.host(), redis.port()),
								client))
				.run((context) -> counted(context, caller("gcra")));
			assertNothingWasDenied(redis);
		}
	}

	@Test
	void wrongPasswordMeansTheFailureModeAndIsNotLogged(CapturedOutput output) {
		try (RedisServer redis = RedisServer.start()) {
			allow(redis);
			this.context
				.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
						"spring.data.redis.password=correct-horse")
				.run((context) -> {
					Decision allowed = check(context, caller("gcra"));
					assertThat(allowed.allowed()).isTrue();
					assertThat(allowed.degraded()).isTrue();
					assertThat(allowed.reason()).isEqualTo(Decision.Reason.UNAVAILABLE);
					assertThat(check(context, caller("single")).allowed()).isFalse();
				});
			assertThat(redis.cli("ACL", "LOG")).contains("auth");
		}
		assertThat(output).contains("WARN").contains("cannot be used").doesNotContain("correct-horse");
	}

	/**
	 * Take, give back, be refused, forget, by all algorithms, with scripts lost between.
	 */
	private static void useEverything(AssertableApplicationContext context, List<RedisServer> nodes) {
		assertThat(context).hasNotFailed();
		for (Algorithm algorithm : Algorithm.values()) {
			Request request = caller(algorithm.text());
			assertThat(counted(context, request).remaining()).isEqualTo(1);
			Decision second = counted(context, request);
			assertThat(second.remaining()).isZero();
			nodes.forEach((node) -> node.cli("SCRIPT", "FLUSH"));
			join(second.giveBack());
			assertThat(counted(context, request).allowed()).isTrue();
			assertThat(counted(context, request).allowed()).isFalse();
			join(CallerState.reset(context.getBean(PolicyRateLimiter.class), request));
			assertThat(counted(context, request).remaining()).isEqualTo(1);
		}
		ModeSwitch modeSwitch = context.getBean(ModeSwitch.class);
		join(modeSwitch.turnOn(new ForcedMode(FailureMode.ALLOW, ForcedMode.USUAL, "ann", "")));
		join(modeSwitch.turnOff());
		markAndShareHotKeys(context);
		findRefusal(context);
		banAndLift(context);
	}

	private static void banAndLift(AssertableApplicationContext context) {
		Request ann = Request.of("login").with(Dimension.USER, "ann");
		await().atMost(Duration.ofSeconds(60)).until(() -> check(context, ann).reason() == Decision.Reason.BAN);
		PenaltyStore store = context.getBean(PenaltyStore.class);
		await().atMost(Duration.ofSeconds(60)).until(() -> !join(store.bans()).bans().isEmpty());
		CallerKey caller = join(store.bans()).bans().get(0).caller();
		join(context.getBean(PenaltyExchange.class).lift(caller));
		assertThat(join(store.bans()).bans()).isEmpty();
	}

	private static void findRefusal(AssertableApplicationContext context) {
		RefusalHistory history = context.getBean(RefusalHistory.class);
		RefusalQuery query = new RefusalQuery("gcra", Map.of(), null, null, null, 1);
		await().atMost(Duration.ofSeconds(30)).until(() -> !join(history.find(query)).refusals().isEmpty());
		assertThat(context.getBean(RefusalRecorder.class).missing()).isZero();
	}

	/** Every check makes its counter a candidate, as the threshold is so low. */
	private static void markAndShareHotKeys(AssertableApplicationContext context) {
		PolicyRateLimiter limiter = context.getBean(PolicyRateLimiter.class);
		CounterName name = CounterName.of(limiter.usage().counters(caller("gcra"), "per-tenant").get(0));
		HotExchange exchange = context.getBean(HotExchange.class);
		assertThat(join(exchange.mark(new HotMark(name, Duration.ofHours(1), "ann", "")))).isTrue();
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			check(context, caller("gcra"));
			return context.getBean(HotCounters.class)
				.top()
				.stream()
				.anyMatch((hot) -> hot.mark() != null && hot.perSecond() > 0);
		});
		join(exchange.unmark(name.key()));
	}

	/**
	 * A log that lies ahead of the clock is rewritten, one that is out of sight pruned.
	 */
	private static void setClock(AssertableApplicationContext context, Function<String, RedisServer> primaryOf) {
		String key = keyOfSingleCounter(context);
		primaryOf.apply(key).cli("EVAL", SHIFT_ENTRY, "1", key, "60");
		assertThat(counted(context, caller("single")).remaining()).isEqualTo(1);
		primaryOf.apply(key).cli("EVAL", SHIFT_ENTRY, "1", key, "-7200");
		assertThat(counted(context, caller("single")).remaining()).isEqualTo(2);
	}

	/** While a slot moves, the old node sends callers of new keys to the new one. */
	private static void moveSlot(AssertableApplicationContext context, RedisCluster cluster) {
		String key = keyOfSingleCounter(context);
		String slot = String.valueOf(SlotHash.getSlot(key));
		RedisServer from = cluster.primaryOf(key);
		RedisServer to = cluster.servers()
			.stream()
			.filter((node) -> node != from && node.cli("ROLE").startsWith("master"))
			.findFirst()
			.orElseThrow();
		cluster.flush();
		to.cli("CLUSTER", "SETSLOT", slot, "IMPORTING", from.cli("CLUSTER", "MYID"));
		from.cli("CLUSTER", "SETSLOT", slot, "MIGRATING", to.cli("CLUSTER", "MYID"));
		assertThat(counted(context, caller("single")).remaining()).isEqualTo(2);
		assertThat(to.cli("KEYS", "*")).contains(key);
	}

	private static String keyOfSingleCounter(AssertableApplicationContext context) {
		Limit limit = counted(context, caller("single")).limits().get(0).limit();
		return context.getBean(CounterKeys.class)
			.key("single", Algorithm.SLIDING_WINDOW_LOG, limit, List.of("203.0.113.7"));
	}

	private static Decision counted(AssertableApplicationContext context, Request request) {
		Decision decision = check(context, request);
		assertThat(decision.source()).isEqualTo(Decision.Source.REDIS);
		assertThat(decision.degraded()).isFalse();
		return decision;
	}

	private static Decision check(AssertableApplicationContext context, Request request) {
		return join(context.getBean(PolicyRateLimiter.class).check(request));
	}

	private static Request caller(String policy) {
		return Request.of(policy)
			.with(Dimension.TENANT, "acme")
			.with(Dimension.USER, "ann")
			.with(Dimension.IP, "203.0.113.7");
	}

	/** Counters of the tenant are on one slot of a cluster, that of the IP on another. */
	private static Stream<String> policy(Algorithm algorithm) {
		String policy = "ratelimit.policies." + algorithm.text();
		return Stream.of(policy + ".algorithm=" + algorithm.text(), policy + ".limits.per-user.by=tenant,user",
				policy + ".limits.per-user.quota=10/h,20/d", policy + ".limits.per-tenant.by=tenant",
				policy + ".limits.per-tenant.quota=100/d", policy + ".limits.per-ip.by=ip",
				policy + ".limits.per-ip.quota=2/d");
	}

	private static void allow(RedisServer server) {
		server.cli(ACL.toArray(String[]::new));
		if (knowsSetInfo(server)) {
			server.cli(ACL_SINCE_7_2.toArray(String[]::new));
		}
	}

	private static boolean knowsSetInfo(RedisServer server) {
		return server.cli("COMMAND", "DOCS", "client|setinfo").contains("setinfo");
	}

	private static void assertNothingWasDenied(RedisServer server) {
		assertThat(server.cli("ACL", "LOG")).isEmpty();
	}

	/**
	 * Opens a second port that demands TLS and a certificate of the client; the first
	 * stays for the administrator.
	 */
	private static int demandTls(RedisServer server, SelfSignedCertificate certificate) throws IOException {
		Path folder = Path.of(server.cli("CONFIG", "GET", "dir").lines().toList().get(1));
		String certificateFile = Files.writeString(folder.resolve("redis.crt"), certificate.certificate()).toString();
		String keyFile = Files.writeString(folder.resolve("redis.key"), certificate.privateKey()).toString();
		// Free, because it would be the cluster bus of this server.
		int port = server.port() + 10_000;
		server.cli("CONFIG", "SET", "tls-cert-file", certificateFile, "tls-key-file", keyFile, "tls-ca-cert-file",
				certificateFile, "tls-auth-clients", "yes", "tls-port", String.valueOf(port));
		return port;
	}

	private static Stream<String> commandsUsed(RedisServer server) {
		return server.cli("INFO", "commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_"))
			.map((line) -> line.substring("cmdstat_".length(), line.indexOf(':')));
	}

	private static List<String> commandsAllowed() {
		return ACL.stream().filter((rule) -> rule.startsWith("+")).map((rule) -> rule.substring(1)).toList();
	}

	private static List<String> documented(String command) {
		try (Stream<String> lines = Files.lines(Path.of("..", "docs", "redis.md"))) {
			return List.of(lines.filter((line) -> line.startsWith(command)).findFirst().orElseThrow().split(" "));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
