package dev.ratelimit.store.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.AuditCuts;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.AuditReport;
import dev.ratelimit.store.AuditScan;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.testing.RedisServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The store as the user of {@code docs/redis.md}: its lines are enough, and the one for
 * records has no command too many.
 */
class PolicyStoreAclIntegrationTests {

	private static final RecordKey KEY = PolicyInstance.override(1);

	@Test
	void documentedUserIsEnough() throws IOException {
		String[] user = documented("ACL SETUSER ratelimit reset");
		String[] records = documented("ACL SETUSER ratelimit +get");
		try (RedisServer server = RedisServer.start()) {
			server.cli(user);
			server.cli(records);
			server.cli("CONFIG", "RESETSTAT");
			RedisURI uri = RedisURI.builder(server.uri())
				.withAuthentication("ratelimit", "change-me".toCharArray())
				.build();
			try (PolicyInstance instance = new PolicyInstance(uri, Snapshot.NONE, (store) -> store)) {
				useEverything(server, instance);
			}
			assertThat(server.cli("ACL", "LOG")).isBlank();
			assertThat(server.info("commandstats").keySet()).containsAll(Arrays.stream(records)
				.filter((rule) -> rule.startsWith("+"))
				.map((rule) -> "cmdstat_" + rule.substring(1))
				.toList());
		}
	}

	/** The trail is outside of {@code ~rl:*}; the line of the page adds it. */
	@Test
	void documentedSelectorIsEnoughForATrailOutsideOfThePrefixAndDoesNotDelete() throws IOException {
		try (RedisServer server = RedisServer.start()) {
			server.cli(documented("ACL SETUSER ratelimit reset"));
			server.cli(documented("ACL SETUSER ratelimit +get"));
			server.cli(documented("ACL SETUSER ratelimit (~rl-audit"));
			RedisURI uri = RedisURI.builder(server.uri())
				.withAuthentication("ratelimit", "change-me".toCharArray())
				.build();
			try (PolicyInstance instance = new PolicyInstance(uri, Snapshot.NONE, (store) -> store, "rl-audit");
					RedisClient client = RedisClient.create(uri)) {
				for (int i = 0; i < 3; i++) {
					join(instance.store.audit(entry(), null));
				}
				List<AuditEntry> entries = join(instance.store.audit(null, 10));
				assertThat(entries).hasSize(3);
				join(instance.store.audit(AuditRecord.of(Instant.now(), AuditCuts.ACTION, "done", "",
						entries.get(2).link().hash(), "", "", ""), entries.get(2).position()));
				AuditReport report = join(
						new AuditScan(instance.store, System::nanoTime).verify(Duration.ofMinutes(1)));
				assertThat(report.broken()).isNull();
				assertThat(report.trimmed()).isTrue();
				assertThat(server.cli("ACL", "LOG")).isBlank();
				RedisCommands<String, String> user = client.connect().sync();
				String trail = "rl-audit:{policies}:audit";
				assertThat(server.cli("XLEN", trail)).isEqualTo("3");
				for (Runnable forbidden : List.<Runnable>of(() -> user.del(trail), () -> user.unlink(trail),
						() -> user.xtrim(trail, 1), () -> user.xdel(trail, "1-1"), () -> user.set(trail, "x"),
						() -> user.eval("return redis.call('DEL', KEYS[1])", ScriptOutputType.INTEGER, trail))) {
					assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(forbidden::run)
						.withMessageMatching("(?s).*(NOPERM|can't access).*");
				}
				// What the page warns of: XADD itself can remove entries.
				user.xadd(trail, XAddArgs.Builder.maxlen(1).exactTrimming(), Map.of("reason", "forged"));
				assertThat(join(new AuditScan(instance.store, System::nanoTime).verify(Duration.ofMinutes(1))).broken())
					.isNotNull();
			}
		}
	}

	private static AuditRecord entry() {
		return AuditRecord.of(Instant.now(), "write", "done", "ann", "", "", "", "");
	}

	private static void useEverything(RedisServer server, PolicyInstance instance) {
		RecordVersion written = instance.write(KEY, "{}");
		Awaitility.await().until(() -> instance.has(written));
		assertThat(instance.store.history(KEY, 1).toCompletableFuture().join()).containsExactly(written);
		join(instance.store.audit(entry(), null));
		join(instance.store.auditHead());
		join(instance.store.scanAudit(null));
		assertThat(instance.store.audit(null, 1).toCompletableFuture().join()).hasSize(1);
		assertThat(instance.store.lead("rollout", "one", Duration.ofSeconds(1)).toCompletableFuture().join())
			.isPresent();
		assertThat(instance.store.add("orders:1", List.of(1L)).toCompletableFuture().join()).containsExactly(1L);
		RecordVersion last = written;
		for (int i = 0; i < PolicyStore.KEPT_VERSIONS; i++) {
			last = instance.write(KEY, "{}");
		}
		instance.store.restore("restored", 0, 0, List.of(last)).toCompletableFuture().join();
		RecordVersion deleted = instance.write(KEY, null);
		String id = join(instance.store.changesSince(0, 1)).storeId();
		join(instance.store.forget(List.of(deleted), new Seen(id, 1)));
		assertThat(join(instance.store.changesSince(0, 1)).versions()).isEmpty();
		server.flush();
		Awaitility.await().until(() -> instance.replica.state().incident() != null);
		instance.replica.reseed(null, "ann", "back").toCompletableFuture().join();
	}

	private static String[] documented(String command) throws IOException {
		try (Stream<String> lines = Files.lines(Path.of("..", "docs", "redis.md"))) {
			List<String> found = lines.filter((line) -> line.startsWith(command)).toList();
			assertThat(found).hasSize(1);
			return found.get(0).split(" ");
		}
	}

}
