package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.StoreUnavailableException;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.testing.Pauses;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What two applications make of a store that dies, freezes or is written to by both at
 * once, whichever store it is. Every version has two limits that say the same number.
 */
abstract class ControlPlaneFaultsContract {

	private static final Author ANN = new Author("ann", "because");

	/** An application with this store, which has a configured policy {@code orders}. */
	abstract ApplicationContextRunner application();

	/** Ends the store's process without a warning. */
	abstract void kill();

	abstract void restart();

	abstract void freeze();

	abstract void thaw();

	@Test
	void storeKilledDuringWritesHasTheOldOrTheNewVersionAndAllInstancesGoByIt() {
		application().run((one) -> application().run((other) -> {
			AtomicLong tried = new AtomicLong();
			AtomicLong acknowledged = new AtomicLong();
			for (int kill = 0; kill < 2; kill++) {
				long before = acknowledged.get();
				AtomicBoolean killed = new AtomicBoolean();
				CompletableFuture<Void> writer = CompletableFuture
					.runAsync(() -> writeUntilItIsKilled(one, tried, acknowledged, killed));
				soon().until(() -> acknowledged.get() > before + 20);
				kill();
				killed.set(true);
				writer.get(30, TimeUnit.SECONDS);
				restart();
				RecordVersion newest = soon().ignoreExceptions().until(() -> history(one).get(0), (read) -> true);
				soon().until(() -> version(one) == newest.version() && version(other) == newest.version());
				assertThat(number(one)).isEqualTo(number(other)).isBetween(acknowledged.get(), tried.get());
				assertThat(ControlPlaneIntegrationTests.plane(one).state().incident()).isNull();
				tried.set(number(one));
			}
		}));
	}

	@Test
	void writeToAFrozenStoreFailsInTimeAndIsThereAsAWholeOrNotAtAllAfterwards() {
		application().run((one) -> application().run((other) -> {
			join(write(one, 1, null));
			soon().until(() -> version(one) == 1 && version(other) == 1);
			freeze();
			long start = Pauses.now();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(write(one, 2, null)))
				.withCauseInstanceOf(StoreUnavailableException.class);
			assertThat(Pauses.without(start)).isLessThan(Duration.ofSeconds(4));
			assertThat(number(one)).isOne();
			assertThat(number(other)).isOne();
			thaw();
			RecordVersion written = soon().ignoreExceptions().until(() -> join(write(other, 3, null)), (read) -> true);
			soon().until(() -> version(one) == written.version() && version(other) == written.version());
			assertThat(number(one)).isEqualTo(3);
			assertThat(history(one)).hasSize((int) written.version());
		}));
	}

	@Test
	void ofTwoWritersAtOnceThroughTwoApplicationsOneConflicts() {
		application().run((one) -> application().run((other) -> {
			for (long round = 0; round < 10; round++) {
				long expect = round;
				List<CompletableFuture<RecordVersion>> writes = List
					.of(CompletableFuture.supplyAsync(() -> write(one, 2 * expect + 1, expect)),
							CompletableFuture.supplyAsync(() -> write(other, 2 * expect + 2, expect)))
					.stream()
					.map((write) -> write.thenCompose((stage) -> stage).orTimeout(10, TimeUnit.SECONDS))
					.toList();
				soon().until(() -> writes.stream().allMatch(CompletableFuture::isDone));
				assertThat(writes).filteredOn((write) -> !write.isCompletedExceptionally()).hasSize(1);
				assertThat(writes).filteredOn(CompletableFuture::isCompletedExceptionally)
					.singleElement()
					.satisfies((loser) -> assertThatExceptionOfType(CompletionException.class).isThrownBy(loser::join)
						.havingCause()
						.isInstanceOfSatisfying(ConflictException.class,
								(conflict) -> assertThat(conflict.newest()).isEqualTo(expect + 1)));
			}
			soon().until(() -> version(one) == 10 && version(other) == 10);
			assertThat(number(one)).isEqualTo(number(other)).isBetween(19L, 20L);
			assertThat(history(one)).hasSize(10);
		}));
	}

	/** A busy machine may let a write fail that nobody disturbs. */
	private static void writeUntilItIsKilled(ApplicationContext context, AtomicLong tried, AtomicLong acknowledged,
			AtomicBoolean killed) {
		while (!killed.get()) {
			try {
				join(write(context, tried.incrementAndGet(), null));
				acknowledged.set(tried.get());
			}
			catch (CompletionException ex) {
				assertThat(ex).hasCauseInstanceOf(StoreUnavailableException.class);
			}
		}
	}

	private static CompletionStage<RecordVersion> write(ApplicationContext context, long number, Long expect) {
		Map<String, String> limit = Map.of("by", "tenant", "quota", number + "/h");
		return ControlPlaneIntegrationTests.plane(context)
			.writePolicy("orders", Map.of("limits", Map.of("first", limit, "second", limit)), expect, ANN);
	}

	private static List<RecordVersion> history(ApplicationContext context) {
		return join(context.getBean(PolicyStore.class).history(RecordIds.policy("orders"), 10_000));
	}

	private static long version(ApplicationContext context) {
		return policy(context).version();
	}

	/** What all limits say. */
	private static long number(ApplicationContext context) {
		List<Long> numbers = policy(context).limits()
			.stream()
			.map((limit) -> limit.quotas().get(0).permits())
			.distinct()
			.toList();
		assertThat(numbers).hasSize(1);
		return numbers.get(0);
	}

	private static Policy policy(ApplicationContext context) {
		return context.getBean(Policies.class).get().find("orders");
	}

	private static ConditionFactory soon() {
		return await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(10));
	}

}
