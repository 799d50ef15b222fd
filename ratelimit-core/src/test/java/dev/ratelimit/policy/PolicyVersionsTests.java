package dev.ratelimit.policy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PolicyVersionsTests {

	private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

	private static final Policy FIRST = orders(1, "10/s").build();

	private static final List<Request> CALLERS = IntStream.range(0, 1_000)
		.mapToObj((i) -> Request.of("orders").with(Dimension.TENANT, "t" + i))
		.toList();

	private final AtomicReference<Instant> now = new AtomicReference<>(NOON.minusSeconds(1));

	private final PolicySet policies = new PolicySet(List.of(FIRST), AccessList.EMPTY, AccessList.EMPTY,
			new CallerRecords(), this.now::get);

	@Test
	void newVersionIsForEverybodyUnlessItSaysOtherwise() {
		PolicySet next = this.policies.mutate().put(orders(2, "20/s").build(), FIRST).build();
		assertThat(callersOf(next, 2)).hasSize(1_000);
		assertThat(next.versions("orders")).extracting(Policy::version).containsExactly(2L);
		assertThat(next.comparison("orders")).isNull();
	}

	@Test
	void callersOutsideThePercentageKeepThePreviousVersion() {
		PolicySet next = this.policies.mutate().put(second(10, null), FIRST).build();
		assertThat(callersOf(next, 2)).hasSizeBetween(60, 140);
		assertThat(callersOf(next, 1)).hasSize(1_000 - callersOf(next, 2).size());
		assertThat(next.versions("orders")).extracting(Policy::version).containsExactly(2L, 1L);
		assertThat(CALLERS).allSatisfy((caller) -> assertThat(match(next, caller).shadow()).isFalse());
	}

	@Test
	void callerThatIsInsideStaysInsideWhenMoreFollow() {
		PolicySet some = this.policies.mutate().put(second(1, null), FIRST).build();
		PolicySet more = some.mutate().put(second(10, null), FIRST).build();
		assertThat(callersOf(more, 2)).containsAll(callersOf(some, 2));
		PolicySet nextVersion = more.mutate().put(orders(3, "20/s").rollout(percent(10, null)).build(), FIRST).build();
		assertThat(callersOf(nextVersion, 3)).isEqualTo(callersOf(more, 2));
	}

	@Test
	void versionStartsWhenItsTimeHasCome() {
		PolicySet next = this.policies.mutate().put(second(100, NOON), FIRST).build();
		assertThat(callersOf(next, 1)).hasSize(1_000);
		this.now.set(NOON);
		assertThat(callersOf(next, 2)).hasSize(1_000);
	}

	@Test
	void withoutAPreviousVersionCallersOutsideAreInShadow() {
		PolicySet next = this.policies.mutate().put(second(10, null)).build();
		assertThat(callersOf(next, 2)).hasSize(1_000);
		List<Request> enforced = CALLERS.stream().filter((caller) -> !match(next, caller).shadow()).toList();
		PolicySet withPrevious = this.policies.mutate().put(second(10, null), FIRST).build();
		assertThat(enforced).isEqualTo(callersOf(withPrevious, 2));
	}

	@Test
	void countersAndUnchangedSpecsAreSharedByVersions() {
		Policy second = orders(2, "10/s").description("new").rollout(percent(50, null)).build();
		PolicySet next = this.policies.mutate().put(second, FIRST).build();
		assertThat(CALLERS).allSatisfy((caller) -> {
			assertThat(match(next, caller).owner()).isEqualTo("orders");
			assertThat(match(next, caller).specs().get(0)).isSameAs(match(this.policies, caller).specs().get(0));
		});
	}

	@Test
	void versionInShadowCountsBesideThePreviousOneAndNeverInItsCounters() {
		PolicySet next = this.policies.mutate().put(orders(2, "20/s").shadow(true).build(), FIRST).build();
		Match deciding = match(next, CALLERS.get(0));
		Match trial = next.trial(CALLERS.get(0));
		assertThat(deciding.policy()).isEqualTo(FIRST);
		assertThat(deciding.shadow()).isFalse();
		assertThat(trial).isNotNull();
		assertThat(trial.policy().version()).isEqualTo(2);
		assertThat(trial.shadow()).isTrue();
		assertThat(trial.owner()).isNotEqualTo(deciding.owner());
	}

	@Test
	void versionForNobodyCountsBesideThePreviousOne() {
		PolicySet next = this.policies.mutate().put(second(0, null), FIRST).build();
		assertThat(callersOf(next, 1)).hasSize(1_000);
		assertThat(next.trial(CALLERS.get(0))).isNotNull();
	}

	@Test
	void versionInShadowWithoutAPreviousOneHasItsOwnCounters() {
		PolicySet next = this.policies.mutate().put(orders(2, "20/s").shadow(true).build()).build();
		assertThat(match(next, CALLERS.get(0)).shadow()).isTrue();
		assertThat(match(next, CALLERS.get(0)).owner()).isEqualTo("orders");
		assertThat(next.trial(CALLERS.get(0))).isNull();
	}

	@Test
	void comparisonGoesOnForAsLongAsItIsOfTheSameVersions() {
		PolicySet some = this.policies.mutate().put(second(1, null), FIRST).build();
		Comparison comparison = some.comparison("orders");
		assertThat(comparison).isNotNull();
		PolicySet more = some.mutate().put(second(10, null), FIRST).build();
		assertThat(more.comparison("orders")).isSameAs(comparison);
		PolicySet other = more.mutate().put(orders(3, "5/s").rollout(percent(10, null)).build(), FIRST).build();
		assertThat(other.comparison("orders")).isNotSameAs(comparison);
	}

	@Test
	void oneOfTenThousandPoliciesIsReplacedWithoutCompilingTheOthers() {
		List<Policy> many = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			many.add(Policy.builder("p" + i).limit("all", List.of(), "10/s").build());
		}
		PolicySet before = new PolicySet(many, AccessList.EMPTY, AccessList.EMPTY);
		PolicySet after = before.mutate()
			.put(Policy.builder("p7").version(1).limit("all", List.of(), "20/s").build())
			.build();
		assertThat(match(after, Request.of("p7")).policy().version()).isEqualTo(1);
		assertThat(match(before, Request.of("p7")).policy().version()).isZero();
		assertThat(after.ids()).hasSize(10_000);
		for (int i = 8; i < 10_000; i++) {
			assertThat(match(after, Request.of("p" + i))).isSameAs(match(before, Request.of("p" + i)));
		}
	}

	@Test
	void everySnapshotOfManyKeepsWhatItHadWhenOthersAreMadeOfIt() {
		Random random = new Random(7);
		Map<PolicySet, Map<String, Long>> expected = new IdentityHashMap<>();
		PolicySet current = PolicySet.of();
		Map<String, Long> versions = new HashMap<>();
		for (int i = 1; i < 3_000; i++) {
			String id = "p" + random.nextInt(700);
			PolicySetBuilder builder = current.mutate();
			if (random.nextInt(4) == 0) {
				builder.retire(id);
			}
			else {
				builder.put(Policy.builder(id).version(i).limit("all", List.of(), "10/s").build());
				versions.put(id, (long) i);
			}
			current = builder.build();
			if (i % 100 == 0) {
				expected.put(current, Map.copyOf(versions));
			}
		}
		expected.forEach((snapshot, known) -> {
			assertThat(snapshot.ids()).hasSameSizeAs(known.keySet()).containsAll(known.keySet());
			assertThat(snapshot.policies()).allMatch((policy) -> known.get(policy.id()) == policy.version());
		});
	}

	@Test
	void twoPoliciesOfOneNameAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> PolicySet.of(FIRST, FIRST))
			.withMessageContaining("two policies have the id 'orders'");
	}

	@Test
	void policyThatIsGoneStillDecidesWhoNamesIt() {
		PolicySet gone = this.policies.mutate().retire("orders").retire("no-such-policy").build();
		assertThat(match(gone, CALLERS.get(0)).policy()).isEqualTo(FIRST);
		assertThat(gone.retired()).containsExactly("orders");
		assertThat(gone.match(Request.of("no-such-policy"))).isNull();
		assertThat(gone.mutate().put(FIRST).build().retired()).isEmpty();
		assertThat(this.policies.retired()).isEmpty();
	}

	@Test
	void snapshotOfABuilderIsFinal() {
		PolicySetBuilder builder = this.policies.mutate();
		builder.build();
		assertThatIllegalStateException().isThrownBy(builder::build);
	}

	@Test
	void anotherPolicyIsNoEarlierVersion() {
		assertThatIllegalArgumentException().isThrownBy(
				() -> this.policies.mutate().put(FIRST, Policy.builder("other").limit("all", List.of(), "1/s").build()))
			.withMessageContaining("'other' is not an earlier version of 'orders'");
	}

	private static PolicyBuilder orders(long version, String quota) {
		return Policy.builder("orders").version(version).limit("per-tenant", List.of(Dimension.TENANT), quota);
	}

	private static Policy second(int percent, Instant validFrom) {
		return orders(2, "20/s").rollout(percent(percent, validFrom)).build();
	}

	private static Rollout percent(int percent, Instant validFrom) {
		return new Rollout(percent, validFrom, List.of(), Rollout.COMPLETE.hold());
	}

	private static List<Request> callersOf(PolicySet policies, long version) {
		return CALLERS.stream().filter((caller) -> match(policies, caller).policy().version() == version).toList();
	}

	private static Match match(PolicySet policies, Request request) {
		Match match = policies.match(request);
		assertThat(match).isNotNull();
		return match;
	}

}
