package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.web.DimensionResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Envoy's rate-limit service over a socket.
 */
class EnvoyTests {

	private static final String[] PROPERTIES = { GrpcApplication.TRUSTED,
			"ratelimit.grpc.envoy.domains.edge.policy=edge", "ratelimit.grpc.envoy.domains.edge.policy-from=policy",
			"ratelimit.grpc.envoy.domains.edge.entries.authenticated=authenticated",
			"ratelimit.grpc.envoy.domains.edge.entries.remote_address=ip",
			"ratelimit.grpc.envoy.domains.edge.entries.path=route",
			"ratelimit.grpc.envoy.domains.edge.entries.client_id=user",
			"ratelimit.grpc.envoy.domains.edge.entries.tenant=tenant",
			"ratelimit.policies.edge.limits.per-ip.by=authenticated,ip",
			"ratelimit.policies.edge.limits.per-ip.quota=2/d",
			"ratelimit.policies.edge.limits.per-path.by=authenticated,route",
			"ratelimit.policies.edge.limits.per-path.quota=3/d",
			"ratelimit.policies.edge.limits.path-and-ip.by=authenticated,route,ip",
			"ratelimit.policies.edge.limits.path-and-ip.quota=1/d",
			"ratelimit.policies.edge.limits.per-client.by=authenticated,user",
			"ratelimit.policies.edge.limits.per-client.quota=2/d",
			"ratelimit.policies.edge.limits.client-and-path.by=authenticated,user,route",
			"ratelimit.policies.edge.limits.client-and-path.quota=1/d",
			"ratelimit.policies.edge.limits.per-tenant.by=tenant",
			"ratelimit.policies.edge.limits.per-tenant.quota=5/10d",
			"ratelimit.policies.strict.limits.per-tenant.by=tenant",
			"ratelimit.policies.strict.limits.per-tenant.quota=10/d",
			"ratelimit.policies.strict.limits.per-user.by=user", "ratelimit.policies.strict.limits.per-user.quota=1/d",
			"ratelimit.policies.strict.on-missing-identity=deny", "ratelimit.deny[0].tenant=evil",
			"ratelimit.deny[1].user=evil" };

	private static GrpcApplication application;

	/** Makes the callers of tests different ones. */
	private static final AtomicInteger CALLERS = new AtomicInteger();

	private final int caller = CALLERS.incrementAndGet();

	@BeforeAll
	static void start() {
		application = GrpcApplication.start(List.of(Beans.class), PROPERTIES);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	/**
	 * The examples of Envoy's documentation, then several descriptors at once. An N is
	 * replaced by another number in each row.
	 */
	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|',
			textBlock = """
					all unauthenticated traffic of an address          | authenticated=false,remote_address=10.0.0.N                    | OK OK OVER_LIMIT
					all unauthenticated traffic of a path              | authenticated=false,path=/foo/N                                | OK OK OK OVER_LIMIT
					unauthenticated traffic of a path and an address   | authenticated=false,path=/foo/N,remote_address=10.0.0.N        | OK OVER_LIMIT
					all traffic of a client                            | authenticated=true,client_id=N                                 | OK OK OVER_LIMIT
					traffic of a client for a path                     | authenticated=true,client_id=N,path=/foo/N                     | OK OVER_LIMIT
					an address and a path, each for itself             | authenticated=false,remote_address=10.0.0.N;authenticated=false,path=/foo/N | OK,OK OK,OK OVER_LIMIT,OK
					two clients of one path                            | authenticated=true,client_id=N;authenticated=true,client_id=xN | OK,OK OK,OK OVER_LIMIT,OK
					entries that are not mapped                        | generic_key=N,remote_address=10.0.0.N                          | OK OK OK OK OK OK
					an entry that is not mapped beside one that is     | tenant=N,generic_key=N                                         | OK OK OK OK OK OVER_LIMIT
					""")
	void examplesOfEnvoysDocumentation(String name, String descriptors, String codes) {
		List<String> answers = new ArrayList<>();
		for (int i = 0; i < codes.strip().split(" ").length; i++) {
			answers.add(ask(message("edge", descriptors)).getStatusesList()
				.stream()
				.map((status) -> status.getCode().name())
				.collect(Collectors.joining(",")));
		}
		assertThat(String.join(" ", answers)).isEqualTo(codes.strip());
	}

	@Test
	void refusedMessageTakesNothingAnywhere() {
		RateLimitRequest both = message("edge", "authenticated=true,client_id=N;tenant=N");
		ask(both);
		ask(both);
		assertThat(ask(both).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(remaining("tenant=N")).isEqualTo(3);
	}

	@Test
	void checksOfDifferentCostsAreGivenBackIfOneIsRefused() {
		RateLimitRequest.Builder message = message("strict", "policy=strict,tenant=N;policy=strict,client_id=N")
			.toBuilder();
		message.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(4));
		assertThat(ask(message.build()).getOverallCode()).isEqualTo(Code.OK);
		RateLimitResponse refused = ask(message.build());
		assertThat(refused.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(refused.getStatusesList()).extracting(DescriptorStatus::getCode)
			.containsExactly(Code.OK, Code.OVER_LIMIT);
		assertThat(remaining("policy=strict,tenant=N")).isEqualTo(6);
	}

	@Test
	void callerWhoseCheckComesFirstGetsItsPermitsBackIfTheNextCallerIsRefused() {
		ask(message("edge", "tenant=xN").toBuilder().setHitsAddend(5).build());
		RateLimitResponse refused = ask(message("edge", "tenant=N;tenant=xN"));
		assertThat(refused.getStatusesList()).extracting(DescriptorStatus::getCode)
			.containsExactly(Code.OK, Code.OVER_LIMIT);
		assertThat(remaining("tenant=N")).isEqualTo(5);
	}

	@Test
	void counterThatIsSelectedTwiceIsChargedOnceWithTheLargerCost() {
		RateLimitRequest.Builder message = message("edge", "tenant=N;tenant=N,generic_key=x").toBuilder();
		message.getDescriptorsBuilder(1).setHitsAddend(UInt64Value.of(3));
		RateLimitResponse answer = ask(message.build());
		assertThat(answer.getStatusesList()).extracting(DescriptorStatus::getLimitRemaining).containsExactly(2, 2);
	}

	@Test
	void hitsOfADescriptorBeatThoseOfTheMessage() {
		RateLimitRequest.Builder message = message("edge", "tenant=N").toBuilder().setHitsAddend(2);
		assertThat(ask(message.build()).getStatuses(0).getLimitRemaining()).isEqualTo(3);
		message.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(1));
		assertThat(ask(message.build()).getStatuses(0).getLimitRemaining()).isEqualTo(2);
	}

	@Test
	void explicitZeroTakesNothingAndIsOverLimitWhileNoPermitIsLeft() {
		RateLimitRequest.Builder question = message("edge", "authenticated=true,client_id=N").toBuilder();
		question.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(0));
		assertThat(ask(question.build()).getStatuses(0).getLimitRemaining()).isEqualTo(2);
		ask(message("edge", "authenticated=true,client_id=N").toBuilder().setHitsAddend(2).build());
		RateLimitResponse empty = ask(question.build());
		assertThat(empty.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(empty.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(headers(empty)).containsKey("Retry-After");
	}

	@Test
	void explicitHitsAreChargedAfterwardsWithDebtIfTheDomainSettles() {
		try (GrpcApplication settling = start("ratelimit.grpc.envoy.domains.edge.settle=true",
				"ratelimit.policies.edge.algorithm=fixed-window")) {
			RateLimitRequest request = message("edge", "tenant=N");
			RateLimitRequest done = request.toBuilder().setHitsAddend(4).build();
			assertThat(ask(settling, request).getStatuses(0).getLimitRemaining()).isEqualTo(4);
			assertThat(ask(settling, done).getOverallCode()).isEqualTo(Code.OK);
			assertThat(ask(settling, request).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(ask(settling, done).getOverallCode()).isEqualTo(Code.OK);
			RateLimitRequest.Builder question = request.toBuilder();
			question.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(0));
			assertThat(ask(settling, question.build()).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(settling.bean(MeterRegistry.class)
				.get("ratelimit.settle")
				.tags("policy", "edge", "outcome", "settled")
				.counter()
				.count()).isEqualTo(2);
		}
	}

	@Test
	void negativeHitsAreGivenBackButNeverAboveFull() {
		ask(message("edge", "tenant=N").toBuilder().setHitsAddend(4).build());
		RateLimitResponse answer = ask(negative("tenant=N", 0, 3).build());
		assertThat(answer.getOverallCode()).isEqualTo(Code.OK);
		assertThat(remaining("tenant=N")).isEqualTo(4);
		ask(negative("tenant=N", 0, 1_000_000_000).build());
		assertThat(remaining("tenant=N")).isEqualTo(5);
	}

	@Test
	void negativeHitsWithoutANumberAreOne() {
		ask(message("edge", "tenant=N").toBuilder().setHitsAddend(4).build());
		RateLimitRequest.Builder message = negative("tenant=N", 0, 1);
		message.getDescriptorsBuilder(0).clearHitsAddend();
		ask(message.build());
		assertThat(remaining("tenant=N")).isEqualTo(2);
	}

	@Test
	void refusedMessageGivesNothingBack() {
		ask(message("edge", "tenant=N").toBuilder().setHitsAddend(4).build());
		ask(message("edge", "authenticated=true,client_id=N").toBuilder().setHitsAddend(2).build());
		String both = "tenant=N;authenticated=true,client_id=N";
		assertThat(ask(negative(both, 0, 3).build()).getStatusesList()).extracting(DescriptorStatus::getCode)
			.containsExactly(Code.OK, Code.OVER_LIMIT);
		assertThat(remaining("tenant=N")).isEqualTo(1);
	}

	@Test
	void counterIsChargedAndGivenBackInOneMessage() {
		ask(message("edge", "tenant=N").toBuilder().setHitsAddend(3).build());
		RateLimitRequest.Builder message = negative("tenant=N;tenant=N,generic_key=x", 0, 2);
		message.getDescriptorsBuilder(1).setHitsAddend(UInt64Value.of(2));
		assertThat(ask(message.build()).getOverallCode()).isEqualTo(Code.OK);
		assertThat(remaining("tenant=N")).isEqualTo(2);
	}

	/** Envoy's field {@code is_negative_hits}, which is newer than the classes. */
	private RateLimitRequest.Builder negative(String descriptors, int index, long hits) {
		RateLimitRequest.Builder message = message("edge", descriptors).toBuilder();
		message.getDescriptorsBuilder(index)
			.setHitsAddend(UInt64Value.of(hits))
			.setUnknownFields(UnknownFieldSet.newBuilder()
				.addField(4, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
				.build());
		return message;
	}

	@Test
	void hitsAboveTheLargestCostAreOverLimit() {
		RateLimitRequest.Builder message = message("edge", "tenant=N").toBuilder();
		assertThat(ask(message.setHitsAddend(1_000_000_000).build()).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(ask(message.setHitsAddend(-1).build()).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		message.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(-1));
		assertThat(ask(message.build()).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(remaining("tenant=N")).isEqualTo(5);
	}

	@Test
	void hitsAboveTheLargestCostAreADebtOfOneBurstIfTheDomainSettles() {
		try (GrpcApplication settling = start("ratelimit.grpc.envoy.domains.edge.settle=true",
				"ratelimit.policies.edge.algorithm=fixed-window")) {
			RateLimitRequest.Builder message = message("edge", "tenant=N").toBuilder();
			assertThat(ask(settling, message.setHitsAddend(1_000_000_000).build()).getOverallCode()).isEqualTo(Code.OK);
			assertThat(ask(settling, message("edge", "tenant=N")).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(settling.bean(MeterRegistry.class)
				.get("ratelimit.settle")
				.tags("policy", "edge", "outcome", "capped")
				.counter()
				.count()).isEqualTo(1);
		}
	}

	@Test
	void answerHasTheLimitItsStateAndTheHeadersOfHttp() {
		RateLimitResponse answer = ask(message("edge", "tenant=N"));
		DescriptorStatus status = answer.getStatuses(0);
		assertThat(status.getCurrentLimit().getName()).isEqualTo("per-tenant 5/10d");
		assertThat(status.getCurrentLimit().getRequestsPerUnit()).isEqualTo(5);
		assertThat(status.getCurrentLimit().getUnit()).isEqualTo(Unit.UNKNOWN);
		assertThat(status.getLimitRemaining()).isEqualTo(4);
		assertThat(status.getDurationUntilReset().getSeconds()).isBetween(0L, 10L * 86_400);
		assertThat(headers(answer)).containsEntry("X-RateLimit-Limit", "5")
			.containsEntry("X-RateLimit-Remaining", "4")
			.containsEntry("X-RateLimit-Policy", "edge");
		assertThat(answer.getRawBody().isEmpty()).isTrue();
		assertThat(ask(message("edge", "authenticated=true,client_id=N")).getStatuses(0).getCurrentLimit().getUnit())
			.isEqualTo(Unit.DAY);
	}

	@Test
	void refusalHasTheProblemDocument() {
		RateLimitRequest message = message("edge", "authenticated=true,client_id=N");
		ask(message);
		ask(message);
		RateLimitResponse refused = ask(message);
		assertThat(headers(refused)).containsEntry("content-type", "application/problem+json")
			.containsEntry("X-RateLimit-Scope", "user")
			.containsKey("Retry-After");
		assertThat(problem(refused)).containsEntry("status", 429)
			.containsEntry("policy", "edge")
			.containsEntry("limit", "per-client");
	}

	@Test
	void denyListIsOverLimit() {
		RateLimitResponse denied = ask(message("edge", "tenant=evil"));
		assertThat(denied.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(denied.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(problem(denied)).doesNotContainKey("status");
	}

	@Test
	void callerOnTheDenyListIsOverLimitInEveryDescriptorAlsoWithoutALimit() {
		RateLimitResponse denied = ask(message("edge", "client_id=evil,generic_key=x"));
		assertThat(denied.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		assertThat(denied.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
	}

	@Test
	void unknownPolicyUnderDenyIsOverLimitInItsDescriptor() {
		try (GrpcApplication denying = start("ratelimit.on-unknown-policy=deny")) {
			RateLimitResponse denied = ask(denying, message("edge", "tenant=N;policy=none,tenant=N"));
			assertThat(denied.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(denied.getStatusesList()).extracting(DescriptorStatus::getCode)
				.containsExactly(Code.OK, Code.OVER_LIMIT);
		}
	}

	@Test
	void permitsThatWereGivenBackAreShownAsLeft() {
		RateLimitRequest.Builder message = message("strict", "policy=strict,tenant=N;policy=strict,client_id=N")
			.toBuilder();
		message.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(4));
		ask(message.build());
		assertThat(ask(message.build()).getStatuses(0).getLimitRemaining()).isEqualTo(6);
	}

	@Test
	void addressesOfOneIpv6NetworkAreChargedOnce() {
		String network = "2001:db8:0:" + Integer.toHexString(this.caller);
		RateLimitResponse answer = ask(message("edge", "authenticated=v6,remote_address=" + network
				+ "::1;authenticated=v6,remote_address=" + network + "::2"));
		assertThat(answer.getStatusesList()).extracting(DescriptorStatus::getLimitRemaining).containsExactly(1, 1);
	}

	@Test
	void maskedAddressIsAnAddress() {
		RateLimitRequest message = message("edge", "authenticated=false,remote_address=10.N.0.0/16");
		assertThat(ask(message).getStatuses(0).getLimitRemaining()).isEqualTo(1);
		assertThat(ask(message).getStatuses(0).getLimitRemaining()).isZero();
		assertThat(ask(message("edge", "tenant=,remote_address=10.0.0.0/33")).getStatuses(0).hasCurrentLimit())
			.isFalse();
	}

	@Test
	void refusedQuestionIsMetered() {
		double before = events("no-permit-left");
		ask(message("edge", "authenticated=true,client_id=N").toBuilder().setHitsAddend(2).build());
		assertThat(remaining("authenticated=true,client_id=N")).isZero();
		assertThat(events("no-permit-left")).isEqualTo(before + 1);
	}

	@Test
	void banIsOverLimitWithTheTimeToWait() {
		try (GrpcApplication banning = start("ratelimit.policies.edge.penalty.after=1",
				"ratelimit.policies.edge.penalty.ban-after=2")) {
			RateLimitRequest message = message("edge", "authenticated=true,client_id=N");
			RateLimitResponse answer = await().atMost(Duration.ofSeconds(60))
				.until(() -> ask(banning, message),
						(given) -> given.getRawBody().toStringUtf8().contains("#abnormal-usage-detected"));
			assertThat(answer.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(answer.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(headers(answer)).containsKey("Retry-After");
		}
	}

	@Test
	void blankEntryIsAMissingDimension() {
		assertThat(ask(message("strict", "policy=strict,tenant=")).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
		double before = events("missing-dimension");
		RateLimitResponse skipped = ask(message("edge", "tenant="));
		assertThat(skipped.getOverallCode()).isEqualTo(Code.OK);
		assertThat(skipped.getStatuses(0).hasCurrentLimit()).isFalse();
		assertThat(events("missing-dimension")).isGreaterThan(before);
	}

	@Test
	void addressInTheSameMessageStandsInForAMissingDimension() {
		RateLimitRequest message = message("edge", "tenant=,remote_address=::ffff:10.1.0.N");
		assertThat(ask(message).getStatuses(0).getLimitRemaining()).isEqualTo(4);
		assertThat(ask(message).getStatuses(0).getLimitRemaining()).isEqualTo(3);
		assertThat(ask(message("edge", "tenant=,remote_address=10.1.0.N")).getStatuses(0).getLimitRemaining())
			.isEqualTo(2);
		assertThat(ask(message("edge", "tenant=,remote_address=localhost")).getStatuses(0).hasCurrentLimit()).isFalse();
	}

	@Test
	void addressesThatStandInAreDifferentCallers() {
		ask(message("edge", "tenant=,remote_address=10.2.0.N;tenant=,remote_address=10.3.0.N"));
		for (String network : List.of("10.2.0.", "10.3.0.")) {
			assertThat(remaining("tenant=,remote_address=" + network + "N")).isEqualTo(4);
		}
	}

	@Test
	void entryChoosesThePolicy() {
		assertThat(remaining("policy=strict,tenant=N")).isEqualTo(10);
		assertThat(remaining("policy=,tenant=N")).isEqualTo(5);
	}

	@Test
	void messageWithoutADomainOrDescriptorsIsInvalid() {
		assertThat(failure(message("", "tenant=N"))).isEqualTo(Status.Code.INVALID_ARGUMENT);
		assertThat(failure(RateLimitRequest.newBuilder().setDomain("edge").build()))
			.isEqualTo(Status.Code.INVALID_ARGUMENT);
	}

	@Test
	void limitOfADescriptorIsIgnoredAndMetered() {
		double before = events("limit-override");
		RateLimitRequest.Builder message = message("edge", "tenant=N").toBuilder();
		message.getDescriptorsBuilder(0).getLimitBuilder().setRequestsPerUnit(1_000);
		assertThat(ask(message.build()).getStatuses(0).getCurrentLimit().getRequestsPerUnit()).isEqualTo(5);
		assertThat(events("limit-override")).isEqualTo(before + 1);
	}

	@Test
	void unknownDomainIsDecidedByTheSetting() {
		RateLimitResponse allowed = ask(message("unknown", "tenant=N;tenant=N"));
		assertThat(allowed.getOverallCode()).isEqualTo(Code.OK);
		assertThat(allowed.getStatusesList()).extracting(DescriptorStatus::getCode).containsExactly(Code.OK, Code.OK);
		try (GrpcApplication denying = start("ratelimit.on-unknown-policy=deny")) {
			RateLimitResponse denied = ask(denying, message("unknown", "tenant=N"));
			assertThat(denied.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(denied.getStatusesList()).extracting(DescriptorStatus::getCode).containsExactly(Code.OVER_LIMIT);
		}
	}

	@Test
	void failureModeDenyIsOverLimitWithTheProblemOfA503() {
		try (GrpcApplication denying = start("ratelimit.switch.mode=deny")) {
			RateLimitResponse denied = ask(denying, message("edge", "tenant=N"));
			assertThat(denied.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(denied.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(headers(denied)).containsKey("Retry-After");
			assertThat(problem(denied)).doesNotContainKey("status")
				.containsEntry("type", "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");
		}
	}

	@Test
	void failureModeDenyIsLeftToEnvoyIfItIsToDecide() {
		try (GrpcApplication denying = start("ratelimit.switch.mode=deny",
				"ratelimit.grpc.envoy.on-deny=unavailable")) {
			assertThat(failure(denying, message("edge", "tenant=N"))).isEqualTo(Status.Code.UNAVAILABLE);
		}
	}

	@Test
	void peerThatIsNotTrustedIsTurnedAway() {
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		Logger logger = (Logger) LoggerFactory.getLogger("dev.ratelimit");
		try (GrpcApplication other = start("ratelimit.grpc.trusted-peers=192.0.2.0/24")) {
			log.start();
			logger.addAppender(log);
			for (int i = 1; i <= 3; i++) {
				assertThat(failure(other, message("edge", "tenant=N"))).isEqualTo(Status.Code.PERMISSION_DENIED);
				assertThat(events(other, "untrusted-peer")).isEqualTo(i);
			}
			assertThat(log.list).filteredOn((event) -> event.getFormattedMessage().contains("not trusted"))
				.singleElement()
				.satisfies((event) -> {
					assertThat(event.getLevel()).isEqualTo(Level.WARN);
					assertThat(event.getFormattedMessage()).contains("ratelimit.grpc.trusted-peers");
				});
		}
		finally {
			logger.detachAppender(log);
		}
	}

	@Test
	void domainsWithoutTrustedPeersFailTheStart() {
		assertThat(GrpcApplication.failure("ratelimit.grpc.envoy.domains.edge.policy=edge",
				"ratelimit.policies.edge.limits.all.by=ip", "ratelimit.policies.edge.limits.all.quota=1/s"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.trusted-peers' is empty");
	}

	@Test
	void domainWithAnUnknownPolicyFailsTheStart() {
		assertThat(GrpcApplication.failure(GrpcApplication.TRUSTED, "ratelimit.grpc.envoy.domains.edge.policy=egde",
				"ratelimit.policies.edge.limits.all.by=ip", "ratelimit.policies.edge.limits.all.quota=1/s"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("Did you mean 'edge'?");
	}

	@Test
	void entryForAnUnknownDimensionFailsTheStart() {
		assertThat(GrpcApplication.failure(GrpcApplication.TRUSTED, "ratelimit.grpc.envoy.domains.edge.policy=edge",
				"ratelimit.grpc.envoy.domains.edge.entries.tenant=tenat",
				"ratelimit.policies.edge.limits.all.by=tenant", "ratelimit.policies.edge.limits.all.quota=1/s"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.envoy.domains.edge.entries.tenant' is 'tenat'")
			.hasMessageContaining("Did you mean 'tenant'?");
	}

	@Test
	void domainWithoutAPolicyFailsTheStart() {
		assertThat(GrpcApplication.failure(GrpcApplication.TRUSTED, "ratelimit.grpc.envoy.domains.edge.entries.a=ip",
				"ratelimit.policies.edge.limits.all.by=ip", "ratelimit.policies.edge.limits.all.quota=1/s"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("ratelimit.grpc.envoy.domains.edge.policy");
	}

	private static GrpcApplication start(String... properties) {
		List<String> all = new ArrayList<>(Arrays.asList(PROPERTIES));
		all.addAll(List.of(properties));
		return GrpcApplication.start(List.of(Beans.class), all.toArray(String[]::new));
	}

	/** {@code key=value,key=value;key=value}: entries of descriptors. */
	private RateLimitRequest message(String domain, String descriptors) {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder()
			.setDomain(domain.equals("strict") ? "edge" : domain);
		for (String descriptor : descriptors.strip().split(";")) {
			RateLimitDescriptor.Builder next = message.addDescriptorsBuilder();
			for (String entry : descriptor.split(",")) {
				String[] parts = entry.split("=", 2);
				next.addEntriesBuilder()
					.setKey(parts[0])
					.setValue(parts[1].replace("N", Integer.toString(this.caller)));
			}
		}
		return message.build();
	}

	private int remaining(String descriptor) {
		RateLimitRequest.Builder question = message("edge", descriptor).toBuilder();
		question.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(0));
		return ask(question.build()).getStatuses(0).getLimitRemaining();
	}

	private static RateLimitResponse ask(RateLimitRequest message) {
		return ask(application, message);
	}

	private static RateLimitResponse ask(GrpcApplication application, RateLimitRequest message) {
		return RateLimitServiceGrpc.newBlockingStub(application.channel())
			.withDeadlineAfter(60, TimeUnit.SECONDS)
			.shouldRateLimit(message);
	}

	private static Status.Code failure(RateLimitRequest message) {
		return failure(application, message);
	}

	private static Status.Code failure(GrpcApplication application, RateLimitRequest message) {
		return catchThrowableOfType(StatusRuntimeException.class, () -> ask(application, message)).getStatus()
			.getCode();
	}

	private static Map<String, String> headers(RateLimitResponse answer) {
		return answer.getResponseHeadersToAddList()
			.stream()
			.collect(Collectors.toMap(HeaderValue::getKey, HeaderValue::getValue));
	}

	private static Map<String, Object> problem(RateLimitResponse answer) {
		return JsonParserFactory.getJsonParser().parseMap(answer.getRawBody().toStringUtf8());
	}

	private static double events(String event) {
		return events(application, event);
	}

	private static double events(GrpcApplication application, String event) {
		return application.bean(MeterRegistry.class).get("ratelimit.grpc.envoy").tag("event", event).counter().count();
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		/** Only Envoy knows it. */
		@Bean
		DimensionResolver authenticated() {
			return (call) -> null;
		}

	}

}
