package dev.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

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

	private static void useEverything(RedisServer server, PolicyInstance instance) {
		RecordVersion written = instance.write(KEY, "{}");
		Awaitility.await().until(() -> instance.has(written));
		assertThat(instance.store.history(KEY, 1).toCompletableFuture().join()).containsExactly(written);
		instance.store.audit(new AuditRecord(Instant.now(), "write", "done", "ann", "", "", "", ""))
			.toCompletableFuture()
			.join();
		assertThat(instance.store.audit(null, 1).toCompletableFuture().join()).hasSize(1);
		assertThat(instance.store.lead("rollout", "one", Duration.ofSeconds(1)).toCompletableFuture().join()).isTrue();
		assertThat(instance.sums().add("orders:1", List.of(1L)).toCompletableFuture().join()).containsExactly(1L);
		server.flush();
		Awaitility.await().until(() -> instance.replica.state().incident() != null);
		instance.replica.reseed("ann", "flushed").toCompletableFuture().join();
	}

	private static String[] documented(String command) throws IOException {
		try (Stream<String> lines = Files.lines(Path.of("..", "docs", "redis.md"))) {
			List<String> found = lines.filter((line) -> line.startsWith(command)).toList();
			assertThat(found).hasSize(1);
			return found.get(0).split(" ");
		}
	}

}
