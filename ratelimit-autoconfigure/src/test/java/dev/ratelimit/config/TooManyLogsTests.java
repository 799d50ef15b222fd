package dev.ratelimit.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.TimedStore;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Snapshot;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Policies whose requests are more than one call to Redis may do are refused on every way
 * in.
 */
class TooManyLogsTests {

	private static final String AT = "ratelimit.policies.orders.";

	private static final String QUOTAS = "10/s,20/m,30/h,40/d";

	private static final Policy TWO_LOGS = Policy.of("orders", Algorithm.SLIDING_WINDOW_LOG,
			Limit.of("per-user", List.of(Dimension.USER), "10/s"),
			Limit.of("per-tenant", List.of(Dimension.TENANT), "10/s"));

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments documents = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(PolicySet.of(TWO_LOGS));

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.documents,
			(key) -> List.of());

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final ControlPlane control = new ControlPlane(this.store, this.replica, this.live, this.documents,
			(policy) -> List.of());

	@AfterEach
	void end() {
		this.replica.close();
	}

	@Test
	void theStartFailsAndNamesTheLimitsAndTheFix() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
			.withPropertyValues(AT + "algorithm=sliding-window-log", AT + "limits.per-user.by=user",
					AT + "limits.per-user.quota=" + QUOTAS, AT + "limits.per-ip.by=ip",
					AT + "limits.per-ip.quota=" + QUOTAS, AT + "limits.all.by=", AT + "limits.all.quota=10/s")
			.run((context) -> {
				assertThat(context).hasFailed();
				FailureAnalysis analysis = new InvalidPolicyFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis).isNotNull();
				assertThat(analysis.getDescription()).contains("Policy 'orders'")
					.contains("at most 10 limits and quotas together")
					.contains("has 12");
				assertThat(analysis.getAction()).contains("'ratelimit.policies.orders.limits'")
					.contains("set 'ratelimit.policies.orders.algorithm' to sliding-window-counter");
			});
	}

	@Test
	void documentIsRefusedWithItsFieldAndTheFix() {
		Map<String, Object> document = Map.of("algorithm", "sliding-window-log", "limits",
				Map.of("per-user", Map.of("by", "user", "quota", List.of(QUOTAS.split(","))), "per-ip",
						Map.of("by", "ip", "quota", "10/s")),
				"tiers",
				Map.of("pro", Map.of("limits", Map.of("per-ip", List.of("10/s", "20/m", "30/h", "40/d", "50/2d")))));
		assertThatExceptionOfType(InvalidChangeException.class)
			.isThrownBy(() -> this.documents.policy("orders", 1, document))
			.satisfies((ex) -> {
				assertThat(ex.field()).isEqualTo("policy.limits");
				assertThat(ex.problem()).contains("has 11");
				assertThat(ex.fix()).contains("'policy.tiers'");
			});
	}

	@Test
	void overrideOfOneCallerIsRefusedWithItsFieldAndTheFix() {
		Map<String, Object> document = Map.of("limits",
				Map.of("per-tenant", List.of("10/s", "20/m", "30/h", "40/d", "50/2d")));
		Change change = new Change(RecordIds.override("orders", Dimension.TENANT, "acme"), document, null);
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> join(this.control.writeAll(List.of(change), new Author("ann", ""), (written) -> {
			})))
			.havingCause()
			.isInstanceOfSatisfying(InvalidChangeException.class, (ex) -> {
				assertThat(ex.field()).endsWith("limits");
				assertThat(ex.problem()).contains("limit 'per-tenant'").contains("at most 4 quotas");
			});
	}

}
