package dev.ratelimit.metrics;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.search.Search;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.Settling;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

class MeterListenerTests {

	private static final Request ANN = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final AtomicReference<PolicySet> policies = new AtomicReference<>(PolicySet.of(orders().build()));

	private final MeterListener listener = new MeterListener(this.registry, this.policies::get, List.of(fixed()),
			Decision.Source.NONE);

	private final BreakableCounters counters = new BreakableCounters();

	private final PolicyRateLimiter limiter = RateLimiterBuilder.on(this.counters)
		.policies(this.policies::get)
		.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
		.listeners(List.of(this.listener))
		.build();

	@Test
	void decisionsAreCountedByPolicyVersionOutcomeAndSource() {
		check(ANN.withCost(2));
		check(ANN);
		check(ANN);
		assertThat(tags("ratelimit.decisions")).containsExactlyInAnyOrder(
				Map.of("policy", "orders", "version", "0", "outcome", "allowed", "source", "redis"),
				Map.of("policy", "orders", "version", "0", "outcome", "refused", "source", "redis"));
		assertThat(count("ratelimit.decisions", "outcome", "allowed")).isEqualTo(1);
		assertThat(count("ratelimit.decisions", "outcome", "refused")).isEqualTo(2);
	}

	@Test
	void replaysAreCountedByPolicy() {
		assertThat(tags("ratelimit.replays")).isEmpty();
		this.policies.set(
				PolicySet.of(orders().idempotency(new Idempotency("X-Request-Id", Duration.ofMinutes(10), 3)).build()));
		this.listener.tidy();
		assertThat(count("ratelimit.replays", "policy", "orders")).isZero();
		Decision replay = new Decision("orders", 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.REDIS, false, null, 1, 1, List.of(), Receipt.NOTHING, null, true);
		this.listener.decided(ANN, replay, 1);
		decided(Decision.Outcome.ALLOWED, Decision.Source.REDIS);
		assertThat(count("ratelimit.replays", "policy", "orders")).isOne();
		assertThat(count("ratelimit.decisions", "outcome", "allowed")).isEqualTo(2);
	}

	@Test
	void everyWordOfTheVocabularyIsATagValue() {
		for (Decision.Outcome outcome : Decision.Outcome.values()) {
			for (Decision.Source source : Decision.Source.values()) {
				decided(outcome, source);
				assertThat(count("ratelimit.decisions", "outcome", outcome.text(), "source", source.text())).isOne();
			}
		}
		assertThat(count("ratelimit.decisions", "outcome", "shadow-refused", "source", "none")).isOne();
	}

	@Test
	void refusalsAreCountedByTheLimitThatRefused() {
		check(ANN.withCost(2));
		check(ANN);
		assertThat(tags("ratelimit.refusals", "orders")).containsExactlyInAnyOrder(
				Map.of("policy", "orders", "limit", "per-user"), Map.of("policy", "orders", "limit", "per-tenant"));
		assertThat(count("ratelimit.refusals", "limit", "per-user")).isEqualTo(1);
		assertThat(count("ratelimit.refusals", "limit", "per-tenant")).isZero();
	}

	@Test
	void refusalCountsForTheLimitThatTheCallerIsTold() {
		LimitStatus shorter = status("per-user", 5);
		LimitStatus longer = status("per-tenant", 9);
		LimitStatus same = status("per-user", 9);
		LimitStatus never = status("per-user", LimitStatus.NEVER);
		LimitStatus passes = status("per-user", 0);
		for (List<LimitStatus> limits : List.of(List.of(passes, shorter, longer), List.of(longer, shorter),
				List.of(longer, same), List.of(same, longer), List.of(longer, never), List.of(never, longer))) {
			Decision refused = decision(Decision.Outcome.REFUSED, Decision.Source.REDIS, limits);
			String limit = refused.refusedBy().limit().name();
			double before = count("ratelimit.refusals", "limit", limit);
			this.listener.decided(ANN, refused, 1);
			assertThat(count("ratelimit.refusals", "limit", limit)).isEqualTo(before + 1);
		}
	}

	@Test
	void editRegistersNoGaugeTwice() {
		Logger logger = (Logger) LoggerFactory.getLogger(MeterRegistry.class);
		ListAppender<ILoggingEvent> lines = new ListAppender<>();
		lines.start();
		logger.setLevel(Level.DEBUG);
		logger.addAppender(lines);
		try {
			for (int i = 0; i < 3; i++) {
				this.policies.set(PolicySet.of(orders().version(i + 1).build()));
				check(ANN);
				assertThat(count("ratelimit.decisions", "version", Integer.toString(i + 1))).isOne();
			}
		}
		finally {
			logger.detachAppender(lines);
			logger.setLevel(null);
		}
		assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
			.noneMatch((line) -> line.contains("already registered"));
	}

	@Test
	void shadowRefusalIsADecisionButNoRefusal() {
		this.policies.set(PolicySet.of(orders().shadow(true).build()));
		check(ANN.withCost(2));
		check(ANN);
		assertThat(count("ratelimit.decisions", "outcome", "shadow-refused")).isEqualTo(1);
		assertThat(count("ratelimit.refusals", "policy", "orders")).isZero();
	}

	@Test
	void latencyHasBucketsFromFiftyMicrosecondsToFiftyMilliseconds() {
		this.listener.decided(ANN, decision(Decision.Outcome.ALLOWED, Decision.Source.REDIS, List.of()), 60_000);
		this.listener.tidy();
		Timer timer = this.registry.get("ratelimit.decision.latency").timer();
		assertThat(timer.getId().getTags()).isEmpty();
		assertThat(timer.takeSnapshot().histogramCounts()).extracting(CountAtBucket::bucket)
			.startsWith(50_000d, 100_000d)
			.endsWith(20_000_000d, 50_000_000d);
		assertThat(timer.takeSnapshot().histogramCounts()).extracting(CountAtBucket::count).startsWith(0d, 1d);
	}

	@Test
	void degradedDecisionsAreCountedByFailureModeAndReason() {
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		check(ANN);
		assertThat(counted("ratelimit.degraded"))
			.containsExactly(Map.of("policy", "orders", "mode", "deny", "reason", "timeout"));
		assertThat(count("ratelimit.decisions", "outcome", "error", "source", "none")).isEqualTo(1);
		this.counters.recover();
		check(ANN);
		assertThat(count("ratelimit.degraded", "policy", "orders")).isEqualTo(1);
	}

	@Test
	void decisionsOfThePoliciesBackendAreAtZeroBeforeTheFirst() {
		MeterListener started = started(Decision.Source.REDIS);
		assertThat(outcomes()).containsExactlyInAnyOrder("allowed redis", "refused redis", "refused denied-cache",
				"error none", "allowed local", "refused local");
		assertThat(count("ratelimit.decisions")).isZero();
		this.policies.set(PolicySet.of(orders().version(1).shadow(true).enforcement(Enforcement.LEASED).build()));
		started.tidy();
		assertThat(outcomes()).containsExactlyInAnyOrder("allowed redis", "shadow-refused redis",
				"shadow-refused denied-cache", "error none", "allowed lease", "allowed local", "shadow-refused local");
	}

	@Test
	void decisionsInMemoryAreAtZeroBeforeTheFirst() {
		started(Decision.Source.MEMORY);
		assertThat(outcomes()).containsExactlyInAnyOrder("allowed memory", "refused memory");
		assertThat(tags("ratelimit.degraded", "orders").map((tags) -> tags.get("mode") + " " + tags.get("reason")))
			.containsExactlyInAnyOrder("deny internal", "local internal", "allow switch", "deny switch",
					"local switch");
	}

	@Test
	void degradedDecisionsOfAllModesAndReasonsOfNodesAreAtZeroBeforeTheFirst() {
		started(Decision.Source.REDIS);
		List<String> degraded = tags("ratelimit.degraded", "orders")
			.map((tags) -> tags.get("mode") + " " + tags.get("reason"))
			.toList();
		for (String reason : List.of("timeout", "breaker-open", "saturated", "unavailable", "out-of-memory",
				"read-only", "loading", "cluster-down", "resharding", "forbidden", "corrupt", "internal", "switch")) {
			assertThat(degraded).contains("deny " + reason, "local " + reason);
		}
		assertThat(degraded).contains("allow switch").hasSize(27);
	}

	@Test
	void settledCostsOfAPolicyThatSettlesAreAtZeroBeforeTheFirst() {
		Policy settling = orders().settling(Settling.byCode(5)).build();
		this.policies.set(PolicySet.of(settling));
		started(Decision.Source.REDIS);
		assertThat(tags("ratelimit.settle").map((tags) -> tags.get("policy") + " " + tags.get("outcome")))
			.containsExactlyInAnyOrder("orders settled", "orders refunded", "orders expired", "orders capped",
					"orders estimated", "orders nothing", "orders lost");
		assertThat(count("ratelimit.settle")).isZero();
	}

	@Test
	void seriesOfMoreThanFiveHundredPoliciesDoNotStartAtZeroExceptThoseThatAlwaysDo() {
		this.policies.set(settling(500));
		started(Decision.Source.REDIS);
		assertThat(tags("ratelimit.decisions", "p-1")).isNotEmpty();
		assertThat(tags("ratelimit.degraded", "p-1")).isNotEmpty();
		this.policies.set(settling(501));
		started(Decision.Source.REDIS);
		assertThat(tags("ratelimit.decisions")).isEmpty();
		assertThat(tags("ratelimit.degraded")).isEmpty();
		assertThat(tags("ratelimit.settle", "p-1")).containsExactly(Map.of("policy", "p-1", "outcome", "lost"));
		assertThat(tags("ratelimit.refusals", "p-1")).isNotEmpty();
		assertThat(tags("ratelimit.overage", "p-1")).isNotEmpty();
		assertThat(tags("ratelimit.rollout.rollbacks", "p-1")).isNotEmpty();
	}

	private static PolicySet settling(int number) {
		return PolicySet.of(IntStream.range(0, number)
			.mapToObj(
					(i) -> Policy.builder("p-" + i).limit("all", List.of(), "5/s").settling(Settling.byCode(5)).build())
			.toArray(Policy[]::new));
	}

	/** A listener for a backend, in place of the one of the field. */
	private MeterListener started(Decision.Source backend) {
		this.registry.clear();
		return new MeterListener(this.registry, this.policies::get, List.of(), backend);
	}

	private Stream<String> outcomes() {
		return tags("ratelimit.decisions", "orders").map((tags) -> tags.get("outcome") + " " + tags.get("source"));
	}

	@Test
	void whatAnOutageBeginsWithIsAtZeroBeforeItAndGoesWithThePolicy() {
		MeterListener started = started(Decision.Source.REDIS);
		assertThat(tags("ratelimit.rollout.rollbacks")).contains(Map.of("policy", "orders"));
		assertThat(tags("ratelimit.policy.info")).contains(Map.of("policy", "unknown", "owner", "none"));
		assertThat(count("ratelimit.degraded")).isZero();
		this.policies.set(PolicySet.of(other()));
		started.tidy();
		assertThat(tags("ratelimit.degraded")).noneMatch((tags) -> tags.get("policy").equals("orders"));
		assertThat(tags("ratelimit.rollout.rollbacks")).doesNotContain(Map.of("policy", "orders"));
	}

	@Test
	void failureModeIsTheOneOfTheCallersTier() {
		this.counters.failWith(new IllegalStateException());
		check(ANN.withTier("pro"));
		assertThat(counted("ratelimit.degraded"))
			.containsExactly(Map.of("policy", "orders", "mode", "local", "reason", "internal"));
		assertThat(count("ratelimit.decisions", "outcome", "allowed", "source", "local")).isEqualTo(1);
	}

	@Test
	void failureModeInShadowIsTheOneThatWouldHaveAnswered() {
		this.policies.set(PolicySet.of(orders().shadow(true).build()));
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		assertThat(check(ANN).allowed()).isTrue();
		assertThat(counted("ratelimit.degraded"))
			.containsExactly(Map.of("policy", "orders", "mode", "deny", "reason", "timeout"));
	}

	@Test
	void floorThatRefusesIsCountedAsALimit() {
		this.policies.set(PolicySet.of(orders().degradedFloor(Quota.parse("1/d")).build()));
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		Request request = ANN.with(Dimension.IP, "192.0.2.1");
		check(request);
		check(request);
		assertThat(count("ratelimit.refusals", "limit", "degraded-floor")).isEqualTo(1);
		assertThat(count("ratelimit.degraded", "mode", "deny")).isEqualTo(2);
	}

	@Test
	void ceilingThatRefusesIsCountedAsALimit() {
		this.policies.set(PolicySet.of(orders().degradedCeiling(Quota.parse("1/d")).build()));
		assertThat(count("ratelimit.refusals", "limit", "degraded-ceiling")).isZero();
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		check(ANN);
		check(ANN);
		assertThat(count("ratelimit.refusals", "limit", "degraded-ceiling")).isEqualTo(1);
	}

	@Test
	void overageIsWhatPassesWithoutACounter() {
		assertThat(tags("ratelimit.overage", "orders"))
			.containsExactly(Map.of("policy", "orders", "enforcement", "strict"));
		check(ANN.withCost(2));
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		check(ANN);
		assertThat(count("ratelimit.overage", "policy", "orders")).isZero();
		check(ANN.withTier("pro").withCost(2));
		assertThat(count("ratelimit.overage", "policy", "orders")).isEqualTo(2);
		this.policies.set(PolicySet.of(orders().version(1).enforcement(Enforcement.LEASED).build()));
		this.listener.tidy();
		assertThat(tags("ratelimit.overage", "orders"))
			.containsExactly(Map.of("policy", "orders", "enforcement", "leased"));
	}

	@Test
	void whatAPolicyInShadowLetsPassIsNoOverage() {
		this.policies.set(PolicySet.of(orders().shadow(true).build()));
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		assertThat(check(ANN).allowed()).isTrue();
		assertThat(count("ratelimit.overage", "policy", "orders")).isZero();
	}

	@Test
	void policyBesideThoseInForceIsMeteredUnderItsId() {
		Decision decision = new Decision("stand-in", 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.REDIS, false, null, 1, 1, List.of(), Receipt.NOTHING);
		this.listener.decided(Request.of("stand-in"), decision, 1);
		this.policies.set(PolicySet.of(other()));
		this.listener.decided(Request.of("stand-in"), decision, 1);
		assertThat(count("ratelimit.decisions", "policy", "stand-in", "version", "0")).isEqualTo(2);
		assertThat(tags("ratelimit.refusals", "stand-in"))
			.containsExactly(Map.of("policy", "stand-in", "limit", "per-route"));
	}

	@Test
	void metersOfARemovedPolicyGoWithoutADecision() {
		check(ANN);
		this.policies.set(PolicySet.of(other()));
		this.listener.tidy();
		assertThat(ids()).noneMatch((id) -> "orders".equals(id.getTag("policy")));
	}

	@Test
	void whatIsOnlyTriedHasNoLatency() {
		this.listener.tried(ANN, decision(Decision.Outcome.SHADOW_REFUSED, Decision.Source.REDIS, List.of()));
		this.listener.tidy();
		assertThat(this.registry.get("ratelimit.decision.latency").timer().count()).isZero();
		assertThat(count("ratelimit.decisions", "outcome", "shadow-refused")).isEqualTo(1);
	}

	@Test
	void recordingADecisionAllocatesNothing() {
		Decision allowed = decision(Decision.Outcome.ALLOWED, Decision.Source.LEASE, List.of());
		Decision refused = decision(Decision.Outcome.REFUSED, Decision.Source.REDIS, List.of(status("per-user", 5)));
		LeaseMeters leases = new LeaseMeters(this.registry);
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		long least = Long.MAX_VALUE;
		for (int round = 0; round < 3; round++) {
			long before = threads.getCurrentThreadAllocatedBytes();
			for (int i = 0; i < 100_000; i++) {
				Decision decision = (i % 3 == 0) ? refused : allowed;
				this.listener.decided(ANN, decision, i);
				leases.decided(ANN, decision, i);
			}
			// What the JVM itself does on the thread now and then is not in every round.
			least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
		}
		assertThat(least).isLessThan(100_000 / 10);
	}

	@Test
	void policyInfoNamesTheOwner() {
		assertThat(tags("ratelimit.policy.info")).contains(Map.of("policy", "orders", "owner", "team-orders"));
		assertThat(this.registry.get("ratelimit.policy.info").tag("policy", "orders").gauge().value()).isEqualTo(1);
	}

	@Test
	void policyThatNobodyOwnsSaysSo() {
		this.policies.set(PolicySet.of(orders().owner("").build()));
		check(ANN);
		assertThat(tags("ratelimit.policy.info", "orders"))
			.containsExactly(Map.of("policy", "orders", "owner", "none"));
	}

	@Test
	void aHundredThousandTenantsAddNoMeter() {
		check(ANN.withCost(2));
		check(ANN);
		List<Meter.Id> before = ids();
		for (int i = 0; i < 100_000; i++) {
			String name = "t" + i;
			check(Request.of("orders").with(Dimension.TENANT, name).with(Dimension.USER, name));
		}
		assertThat(ids()).isEqualTo(before);
		assertThat(count("ratelimit.decisions", "outcome", "allowed")).isEqualTo(100_001);
	}

	@Test
	void unknownPoliciesShareOneTagValue() {
		for (int i = 0; i < 1_000; i++) {
			check(Request.of("no-such-policy-" + i));
		}
		assertThat(tags("ratelimit.decisions"))
			.containsExactly(Map.of("policy", "unknown", "version", "none", "outcome", "error", "source", "none"));
		assertThat(counted("ratelimit.degraded"))
			.containsExactly(Map.of("policy", "unknown", "mode", "allow", "reason", "unknown-policy"));
		assertThat(count("ratelimit.decisions", "policy", "unknown")).isEqualTo(1_000);
	}

	@Test
	void listedCallersCountForTheVersionInForce() {
		AccessList deny = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		this.policies.set(new PolicySet(List.of(orders().version(7).build()), AccessList.EMPTY, deny));
		check(ANN);
		assertThat(tags("ratelimit.decisions"))
			.containsExactly(Map.of("policy", "orders", "version", "7", "outcome", "denied", "source", "none"));
	}

	@Test
	void metersOfARemovedPolicyGo() {
		this.policies.set(PolicySet.of(orders().build(), other()));
		check(ANN);
		this.counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
		check(ANN);
		this.policies.set(PolicySet.of(other()));
		check(Request.of("other"));
		assertThat(ids()).noneMatch((id) -> "orders".equals(id.getTag("policy")));
		assertThat(count("ratelimit.decisions", "policy", "other")).isEqualTo(1);
	}

	@Test
	void lateDecisionOfARemovedPolicyBringsNothingBack() {
		this.policies.set(PolicySet.of(other()));
		decided(Decision.Outcome.ALLOWED, Decision.Source.REDIS);
		assertThat(ids()).noneMatch((id) -> "orders".equals(id.getTag("policy")));
		assertThat(count("ratelimit.decisions", "policy", "unknown")).isEqualTo(1);
	}

	@Test
	void policyThatComesBackStartsFromZero() {
		PolicySet before = this.policies.get();
		check(ANN);
		this.policies.set(PolicySet.of(other()));
		check(Request.of("other"));
		this.policies.set(before);
		check(ANN);
		assertThat(count("ratelimit.decisions", "policy", "orders")).isEqualTo(1);
		assertThat(tags("ratelimit.policy.info", "orders"))
			.containsExactly(Map.of("policy", "orders", "owner", "team-orders"));
	}

	@Test
	void decisionsOfAReplacedVersionGoAndTheRestStays() {
		check(ANN.withCost(2));
		check(ANN);
		this.policies.set(PolicySet.of(orders().version(1).owner("team-checkout").build()));
		check(ANN);
		assertThat(tags("ratelimit.decisions"))
			.containsExactly(Map.of("policy", "orders", "version", "1", "outcome", "refused", "source", "redis"));
		assertThat(count("ratelimit.refusals", "limit", "per-user")).isEqualTo(2);
		assertThat(tags("ratelimit.policy.info", "orders"))
			.containsExactly(Map.of("policy", "orders", "owner", "team-checkout"));
	}

	@Test
	void versionsThatAreInForceTogetherAreCountedApart() {
		Policy first = orders().version(1).build();
		this.policies.set(PolicySet.of(first));
		check(ANN);
		Policy second = Policy.builder("orders")
			.version(2)
			.owner("team-orders")
			.shadow(true)
			.limit("per-ip", List.of(Dimension.TENANT), "1/d")
			.build();
		this.policies.set(this.policies.get().mutate().put(second, first).build());
		check(ANN);
		check(ANN);
		assertThat(count("ratelimit.decisions", "version", "1", "outcome", "allowed")).isEqualTo(2);
		assertThat(count("ratelimit.decisions", "version", "1", "outcome", "refused")).isEqualTo(1);
		assertThat(count("ratelimit.decisions", "version", "2", "outcome", "allowed")).isEqualTo(1);
		assertThat(count("ratelimit.decisions", "version", "2", "outcome", "shadow-refused")).isEqualTo(1);
		assertThat(tags("ratelimit.refusals", "orders")).extracting((tags) -> tags.get("limit"))
			.containsExactlyInAnyOrder("per-user", "per-tenant", "per-ip");
		this.policies.set(PolicySet.of(first));
		check(ANN);
		assertThat(tags("ratelimit.decisions")).extracting((tags) -> tags.get("version")).containsOnly("1");
		assertThat(count("ratelimit.decisions", "version", "1", "outcome", "allowed")).isEqualTo(2);
	}

	@Test
	void refusalsOfARemovedLimitGo() {
		this.policies.set(PolicySet.of(Policy.builder("orders")
			.owner("team-orders")
			.limit("per-user", List.of(Dimension.USER), "2/d")
			.build()));
		check(ANN);
		assertThat(tags("ratelimit.refusals", "orders"))
			.containsExactly(Map.of("policy", "orders", "limit", "per-user"));
	}

	@Test
	void metersThatAFilterMergedOutliveOneOfTheirPolicies() {
		SimpleMeterRegistry merging = new SimpleMeterRegistry();
		merging.config().meterFilter(MeterFilter.ignoreTags("policy", "owner"));
		this.policies.set(PolicySet.of(orders().build(), other()));
		MeterListener listener = new MeterListener(merging, this.policies::get, List.of(), Decision.Source.NONE);
		Decision decision = decision(Decision.Outcome.ALLOWED, Decision.Source.REDIS, List.of());
		Decision others = new Decision("other", 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.REDIS, false, null, 1, 1, List.of(), Receipt.NOTHING);
		listener.decided(ANN, decision, 1);
		listener.decided(Request.of("other"), others, 1);
		this.policies.set(PolicySet.of(other()));
		listener.decided(Request.of("other"), others, 1);
		assertThat(merging.get("ratelimit.decisions").counter().count()).isEqualTo(3);
	}

	@Test
	void registryThatIsBoundLaterSeesWhatComesAfter() {
		CompositeMeterRegistry composite = new CompositeMeterRegistry();
		MeterListener listener = new MeterListener(composite, this.policies::get, List.of(), Decision.Source.NONE);
		Decision decision = decision(Decision.Outcome.ALLOWED, Decision.Source.REDIS, List.of());
		listener.decided(ANN, decision, 1);
		SimpleMeterRegistry late = new SimpleMeterRegistry();
		composite.add(late);
		listener.decided(ANN, decision, 1);
		assertThat(late.get("ratelimit.decisions").counter().count()).isEqualTo(1);
	}

	private Decision check(Request request) {
		return this.limiter.check(request).toCompletableFuture().join();
	}

	private void decided(Decision.Outcome outcome, Decision.Source source) {
		this.listener.decided(ANN, decision(outcome, source, List.of()), 1);
	}

	private static Decision decision(Decision.Outcome outcome, Decision.Source source, List<LimitStatus> limits) {
		return new Decision("orders", 0, true, outcome, Decision.Reason.LIMITS, source, false, null, 1, 1, limits,
				Receipt.NOTHING);
	}

	private static LimitStatus status(String limit, long retryAfterMicros) {
		Quota quota = Quota.parse("2/d");
		return new LimitStatus(new Limit(limit, List.of(), List.of(quota)), quota, 0, 1, retryAfterMicros, 1);
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders")
			.owner("team-orders")
			.onFailure(FailureMode.DENY)
			.onMissingIdentity(MissingIdentity.SKIP)
			.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "2/d")
			.limit("per-tenant", List.of(Dimension.TENANT), "1000/d")
			.tier("pro", new Tier(Map.of(), FailureMode.LOCAL));
	}

	private static Policy fixed() {
		return Policy.builder("stand-in").limit("per-route", List.of(), "1000/d").build();
	}

	private static Policy other() {
		return Policy.builder("other").limit("all", List.of(), "1000/d").build();
	}

	private double count(String name, String... tags) {
		return this.registry.find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
	}

	/** Tags of the counters that have counted something. */
	private Stream<Map<String, String>> counted(String name) {
		return this.registry.find(name)
			.counters()
			.stream()
			.filter((counter) -> counter.count() > 0)
			.map(MeterListenerTests::tags);
	}

	private Stream<Map<String, String>> tags(String name) {
		return tags(this.registry.find(name));
	}

	private Stream<Map<String, String>> tags(String name, String policy) {
		return tags(this.registry.find(name).tag("policy", policy));
	}

	private static Stream<Map<String, String>> tags(Search search) {
		return search.meters().stream().map(MeterListenerTests::tags);
	}

	private static Map<String, String> tags(Meter meter) {
		return meter.getId().getTags().stream().collect(Collectors.toMap(Tag::getKey, Tag::getValue));
	}

	private List<Meter.Id> ids() {
		return this.registry.getMeters().stream().map(Meter::getId).toList();
	}

}
