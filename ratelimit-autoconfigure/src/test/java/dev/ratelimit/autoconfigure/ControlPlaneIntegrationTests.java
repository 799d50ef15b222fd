package dev.ratelimit.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.StoreUnavailableException;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.store.SnapshotFile;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Applications that share a Redis, as a fleet: what is changed through one is enforced by
 * all.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
public class ControlPlaneIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10/h",
				"ratelimit.policies.orders.tiers.pro.limits.per-tenant=50/h", "ratelimit.redis.timeout=2s");

	@Test
	void writeOnOneInstanceIsEnforcedByTheOthers(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			RecordVersion written = join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
			assertThat(written.version()).isOne();
			soon().until(() -> limit(one, "acme") == 77 && limit(other, "acme") == 77);
			assertThat(join(plane(other).writePolicy("orders", limits("78/h"), 1L, ANN)).version()).isEqualTo(2);
			soon().until(() -> limit(one, "acme") == 78);
			assertThat(join(plane(one).rollBack("orders", 1, null, null, ANN)).version()).isEqualTo(3);
			soon().until(() -> limit(other, "acme") == 77);
			join(plane(one).deletePolicy("orders", null, false, ANN));
			soon().until(() -> limit(other, "acme") == 10);
			assertThat(join(plane(other).history(RecordIds.policy("orders")))).extracting(RecordVersion::version)
				.containsExactly(4L, 3L, 2L, 1L);
		}));
	}

	@Test
	void secondOfTwoConcurrentEditsConflicts(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			join(plane(one).writePolicy("orders", limits("77/h"), 0L, ANN));
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(plane(other).writePolicy("orders", limits("78/h"), 0L, ANN)))
				.withCauseInstanceOf(ConflictException.class);
			assertThat(join(plane(other).history(RecordIds.policy("orders")))).hasSize(1);
		}));
	}

	@Test
	void recordsAboutCallersTakeEffectWithoutANewToken(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			ControlPlane plane = plane(one);
			join(plane.write(new Change(RecordIds.tier(Dimension.TENANT, "acme"), Map.of("tier", "pro"), null), ANN));
			soon().until(() -> limit(other, "acme") == 50);
			assertThat(limit(other, "globex")).isEqualTo(10);
			join(plane.write(new Change(RecordIds.override("orders", Dimension.TENANT, "acme"),
					Map.of("limits", Map.of("per-tenant", "99/h")), null), ANN));
			soon().until(() -> limit(other, "acme") == 99);
			join(plane.write(new Change(RecordIds.entry(Kind.DENY, Map.of(Dimension.TENANT, "acme")), Map.of(), null),
					ANN));
			soon().until(() -> check(other, "acme").outcome() == Decision.Outcome.DENIED);
			join(plane.write(new Change(RecordIds.entry(Kind.DENY, Map.of(Dimension.TENANT, "acme")), null, null),
					ANN));
			join(plane.write(new Change(RecordIds.override("orders", Dimension.TENANT, "acme"), null, null), ANN));
			join(plane.write(new Change(RecordIds.tier(Dimension.TENANT, "acme"), null, null), ANN));
			soon().until(() -> check(other, "acme").allowed() && limit(other, "acme") == 10);
			join(plane.write(new Change(RecordIds.entry(Kind.ALLOW, Map.of(Dimension.TENANT, "acme")), Map.of(), null),
					ANN));
			soon().until(() -> check(other, "acme").outcome() == Decision.Outcome.BYPASSED);
		}));
	}

	@Test
	void restartWithTheStoreDownGoesOnFromTheSnapshotFile(RedisServer redis, @TempDir Path folder,
			CapturedOutput output) {
		Path file = folder.resolve("policies.snapshot");
		String property = "ratelimit.policies-store.snapshot-file=" + file;
		on(redis).withPropertyValues(property).run((one) -> {
			on(redis).run((other) -> {
				join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
				join(plane(one).writePolicy("extra", limits("5/h"), null, ANN));
				await().until(() -> policies(one).ids().contains("extra") && one.getBean(Fleet.class).size() == 2);
				// On a busy disk the file is written the more seldom.
				await().atMost(Duration.ofMinutes(1)).until(() -> {
					Snapshot kept = new SnapshotFile(file).read();
					return kept.records().size() == 2 && kept.instances() == 2;
				});
				redis.kill();
			});
		});
		on(redis).withPropertyValues(property).run((again) -> {
			assertThat(policies(again).find("orders").version()).isOne();
			assertThat(policies(again).ids()).contains("extra");
			assertThat(again.getBean(Fleet.class).size()).isEqualTo(2);
			assertThat(output).containsOnlyOnce("The policy store did not answer");
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(plane(again).writePolicy("orders", limits("78/h"), null, ANN)))
				.withCauseInstanceOf(StoreUnavailableException.class);
			assertThat(policies(again).find("orders").version()).isOne();
		});
	}

	@Test
	void poisonedPolicyKeepsItsLastGoodVersionAndTheRestIsLoaded(RedisServer redis) {
		on(redis).run((one) -> {
			join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
			soon().until(() -> limit(one, "acme") == 77);
			one.getBean(PolicyStore.class)
				.write(List.of(new Edit(RecordIds.policy("orders"), "{\"policy\": {\"limits\": 5}}", null),
						new Edit(RecordIds.policy("extra"),
								"{\"policy\": {\"limits\": {\"a\": {\"by\": \"ip\", \"quota\": \"5/s\"}}}}", null),
						new Edit(RecordIds.policy("broken"), "no JSON", null)), Seen.NOTHING, "mallory", "")
				.toCompletableFuture()
				.join();
			soon().until(() -> policies(one).ids().contains("extra"));
			assertThat(limit(one, "acme")).isEqualTo(77);
			assertThat(one.getBean(LivePolicies.class).rejected()).extracting((rejected) -> rejected.key().id())
				.containsExactlyInAnyOrder("orders", "broken");
			on(redis).run((later) -> {
				assertThat(policies(later).find("orders").version()).isOne();
				assertThat(later.getBean(LivePolicies.class).rejected()).hasSize(2);
			});
			join(plane(one).writePolicy("orders", limits("80/h"), 2L, ANN));
			soon().until(() -> limit(one, "acme") == 80 && one.getBean(LivePolicies.class).rejected().size() == 1);
		});
	}

	@Test
	void storeThatLostEverythingIsReseededInOneCall(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
			soon().until(
					() -> policies(one).find("orders").version() == 1 && policies(other).find("orders").version() == 1);
			redis.flush();
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(plane(one).writePolicy("orders", limits("76/h"), null, ANN)))
				.withCauseInstanceOf(StoreUnavailableException.class)
				.withMessageContaining("has lost data");
			assertThat(redis.cli("EXISTS", "rl:{policies}:meta")).isEqualTo("0");
			await().atMost(Duration.ofSeconds(30))
				.until(() -> plane(one).state().stale() && plane(other).state().stale());
			assertThat(limit(one, "acme")).isEqualTo(77);
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(plane(one).writePolicy("orders", limits("78/h"), null, ANN)))
				.withCauseInstanceOf(StoreUnavailableException.class);
			join(plane(one).reseed(null, ANN));
			await().atMost(Duration.ofSeconds(30))
				.until(() -> !plane(one).state().stale() && !plane(other).state().stale());
			join(plane(one).writePolicy("orders", limits("78/h"), null, ANN));
			soon().until(() -> limit(other, "acme") == 78);
		}));
	}

	@Test
	void storeThatWasKilledAndStartsEmptyIsAnIncidentUntilItIsReseeded(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
			soon().until(
					() -> policies(one).find("orders").version() == 1 && policies(other).find("orders").version() == 1);
			redis.kill();
			redis.restart();
			await().atMost(Duration.ofMinutes(1))
				.until(() -> plane(one).state().incident() != null && plane(other).state().incident() != null);
			assertThat(List.of(limit(one, "acme"), limit(other, "acme"))).containsOnly(77L);
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(plane(other).writePolicy("orders", limits("78/h"), null, ANN)))
				.withCauseInstanceOf(StoreUnavailableException.class);
			assertThat(redis.cli("EXISTS", "rl:{policies}:meta")).isEqualTo("0");
			join(plane(other).reseed(null, ANN));
			await().atMost(Duration.ofMinutes(1))
				.until(() -> !plane(one).state().stale() && !plane(other).state().stale());
			assertThat(policies(one).find("orders").version()).isOne();
			join(plane(one).writePolicy("orders", limits("78/h"), 1L, ANN));
			await().atMost(Duration.ofMinutes(1)).until(() -> limit(other, "acme") == 78);
		}));
	}

	@Test
	void deletedPolicyThatIsOnlyInTheStoreStillDecidesWhatNamesIt(RedisServer redis) {
		on(redis).run((one) -> {
			join(plane(one).writePolicy("extra", limits("5/h"), null, ANN));
			soon().until(() -> policies(one).ids().contains("extra"));
			join(plane(one).deletePolicy("extra", null, false, ANN));
			soon().until(() -> policies(one).retired().contains("extra"));
			Request request = Request.of("extra").with(Dimension.TENANT, "acme");
			assertThat(one.getBean(RateLimiter.class).check(request).toCompletableFuture().join().outcome())
				.isEqualTo(Decision.Outcome.ALLOWED);
		});
	}

	@Test
	void manyRecordsAreLoadedAtStart(RedisServer redis) {
		on(redis).run((one) -> {
			for (int page = 0; page < 3; page++) {
				int first = page * 1_000;
				join(plane(one).writeAll(IntStream.range(first, first + 1_000)
					.mapToObj((i) -> new Change(RecordIds.tier(Dimension.TENANT, "t" + i), Map.of("tier", "pro"), null))
					.toList(), ANN, (written) -> {
					}));
			}
			on(redis).run((other) -> {
				assertThat(policies(other).records().size()).isEqualTo(3_000);
				assertThat(limit(other, "t2999")).isEqualTo(50);
			});
		});
	}

	@Test
	void storeMayBeAnotherRedisThanTheCounters(RedisServer redis) {
		try (RedisServer own = RedisServer.start()) {
			on(redis).withPropertyValues("ratelimit.policies-store.redis.url=redis://" + own.host() + ":" + own.port())
				.run((one) -> {
					join(plane(one).writePolicy("orders", limits("77/h"), null, ANN));
					soon().until(() -> limit(one, "acme") == 77);
					assertThat(own.cli("EXISTS", "rl:{policies}:meta")).isEqualTo("1");
					assertThat(redis.cli("EXISTS", "rl:{policies}:meta")).isEqualTo("0");
				});
		}
	}

	@Test
	void redisOfPoliciesThatIsAwayIsNotTakenForThatOfTheCounters(RedisServer redis, CapturedOutput output) {
		on(redis).withPropertyValues("ratelimit.policies-store.redis.url=redis://127.0.0.1:1")
			.run((context) -> assertThat(output).contains("Redis 127.0.0.1:1 cannot be used")
				.contains("until it can, policies stay as this instance knows them and none can be changed")
				.doesNotContain("failure mode"));
	}

	@Test
	void withoutAStoreThereIsNoControlPlane(RedisServer redis) {
		on(redis).withPropertyValues("ratelimit.policies-store.type=none")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ControlPlane.class));
		this.context.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ControlPlane.class));
	}

	@Test
	void storeWithoutADatabaseIsExplained() {
		this.context.withPropertyValues("ratelimit.policies-store.type=r2dbc")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("spring.r2dbc.url"));
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	/** Told of it, and not by looking, which takes four seconds at least. */
	private static Within soon() {
		return Within.seconds(3);
	}

	public static Map<String, Object> limits(String quota) {
		return Map.of("limits", Map.of("per-tenant", Map.of("by", "tenant", "quota", quota)), "tiers",
				Map.of("pro", Map.of("limits", Map.of("per-tenant", "500/h"))));
	}

	static ControlPlane plane(ApplicationContext context) {
		return context.getBean(ControlPlane.class);
	}

	private static PolicySet policies(ApplicationContext context) {
		return context.getBean(Policies.class).get();
	}

	private static Decision check(ApplicationContext context, String tenant) {
		Request request = Request.of("orders").with(Dimension.TENANT, tenant).withCost(0);
		return context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
	}

	/** What holds for a tenant now. */
	static long limit(ApplicationContext context, String tenant) {
		return check(context, tenant).limits().get(0).quota().permits();
	}

}
