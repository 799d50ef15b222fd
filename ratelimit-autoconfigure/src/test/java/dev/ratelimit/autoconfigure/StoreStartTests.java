package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.DefaultApplicationArguments;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore.OnUnavailable;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore.Redis;
import dev.ratelimit.config.RateLimitProperties.PoliciesStore.Type;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the store sends when a start has given up waiting for it.
 */
class StoreStartTests {

	private static final String BY_USER = "{\"policy\": {\"limits\": {\"all\": {\"by\": \"user\", \"quota\": \"3/s\"}}}}";

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(
			PolicySet.of(Policy.of("orders", Algorithm.GCRA, Limit.of("all", List.of(), "5/s"))));

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.reader,
			(key) -> List.of());

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final UnknownPolicies unknown = new UnknownPolicies(this.policies,
			() -> new ControlPlane(this.store, this.replica, this.live, this.reader, (policy) -> List.of()));

	@AfterEach
	void end() {
		this.replica.close();
	}

	@Test
	void versionThatArrivesAsTheWaitEndsMustFitWhatNamesItsPolicy() {
		this.unknown.requireFitting("'ratelimit.urls.login.policy'", "orders",
				new RejectedRecordsTests.WithoutUsers()::requireFitting);
		assertThatExceptionOfType(InvalidChangeException.class).isThrownBy(() -> run(this::arrive))
			.satisfies((failure) -> assertThat(failure.problem()).contains("counts by user"));
	}

	@Test
	void nameThatTheStoreDoesNotHaveFailsTheStartIfTheStoreIsReadAsTheWaitEnds() {
		this.unknown.found("'ratelimit.urls.login.policy'", "ordres");
		assertThatExceptionOfType(InvalidPolicyException.class).isThrownBy(() -> run(this::read))
			.satisfies((failure) -> assertThat(failure.fix()).contains("Did you mean 'orders'?"));
	}

	@Test
	void nameThatNobodyKnowsDoesNotFailTheStartWithoutTheStore() {
		this.unknown.found("'ratelimit.urls.login.policy'", "ordres");
		assertThatCode(() -> run(() -> {
		})).doesNotThrowAnyException();
	}

	/** The last thing before versions are checked when they arrive. */
	private void run(Runnable meanwhile) throws InterruptedException {
		PoliciesStore properties = new PoliciesStore(Type.AUTO, "none", Duration.ZERO, OnUnavailable.START,
				new Redis(""));
		new StoreStart(this.replica, this.unknown, properties, meanwhile).run(new DefaultApplicationArguments());
	}

	private void arrive() {
		this.live.changed(
				List.of(new RecordVersion(RecordIds.policy("orders"), 1, 1, BY_USER, "ann", Instant.EPOCH, "a test")));
		assertThat(this.policies.get().find("orders").limits().get(0).by()).containsExactly(Dimension.USER);
	}

	private void read() {
		this.replica.start();
		await().atMost(Duration.ofMinutes(1)).until(() -> this.replica.state().read());
	}

}
