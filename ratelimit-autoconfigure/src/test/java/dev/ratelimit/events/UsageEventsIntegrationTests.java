package dev.ratelimit.events;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.serialization.LongSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.testing.KafkaBroker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Events on their way to a real broker, whatever becomes of it.
 */
class UsageEventsIntegrationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final int MEASURED = 30_000;

	private static final ObjectMapper JSON = new ObjectMapper();

	private static final Request ANN = Request.of("orders")
		.with(Dimension.TENANT, "acme-corporation")
		.with(Dimension.USER, "ann.smith")
		.with(Dimension.IP, "203.0.113.7")
		.with(Dimension.ROUTE, "orders-route");

	private static KafkaBroker broker;

	private final String topic = "usage-" + UUID.randomUUID();

	@BeforeAll
	static void startBroker() throws IOException {
		broker = KafkaBroker.started();
	}

	@AfterAll
	static void stopBroker() throws IOException {
		broker.close();
	}

	@Test
	void decisionsArriveAsCloudEvents() throws Exception {
		Instant before = Instant.now();
		run(application(broker.address()), (context) -> {
			decide(context, ANN.withCost(2).withId("4711"));
			decide(context, ANN);
			awaitDelivered(context, 2);
		});
		List<ConsumerRecord<String, String>> records = broker.read(this.topic);
		assertThat(records).hasSize(2).allSatisfy((entry) -> {
			assertThat(entry.headers().lastHeader("content-type").value()).asString()
				.isEqualTo("application/cloudevents+json; charset=UTF-8");
			assertThat(entry.value()).doesNotContain("acme", "smith", "203.0.113.7");
			JsonNode event = read(entry);
			assertThat(event.path("specversion").asText()).isEqualTo("1.0");
			assertThat(event.path("type").asText()).isEqualTo("dev.ratelimit.usage.v1");
			assertThat(event.path("source").asText()).startsWith("/ratelimit/local/");
			assertThat(event.path("partitionkey").asText()).isEqualTo(entry.key()).isNotBlank();
			assertThat(Instant.parse(event.path("time").asText())).isBetween(before.minusMillis(1), Instant.now());
			assertThat(event.at("/data/key/route").asText()).isEqualTo("orders-route");
		});
		JsonNode allowed = read(records.get(0)).path("data");
		assertThat(allowed.path("outcome").asText()).isEqualTo("allowed");
		assertThat(allowed.path("cost").asLong()).isEqualTo(allowed.path("granted").asLong()).isEqualTo(2);
		assertThat(allowed.path("requestId").asText()).isEqualTo("4711");
		JsonNode refused = read(records.get(1)).path("data");
		assertThat(refused.path("outcome").asText()).isEqualTo("refused");
		assertThat(refused.path("allowed").asBoolean()).isFalse();
		assertThat(refused.path("granted").asLong()).isZero();
	}

	@Test
	void eventsOfATenantStayInOrderWhateverTheApplicationsProducersDo() throws Exception {
		ApplicationContextRunner application = application(broker.address()).withPropertyValues(
				"spring.kafka.producer.acks=0", "spring.kafka.producer.retries=0",
				"spring.kafka.producer.transaction-id-prefix=tx-",
				"spring.kafka.producer.value-serializer=" + LongSerializer.class.getName(),
				"spring.kafka.producer.properties.enable.idempotence=false",
				"spring.kafka.producer.properties.partitioner.class=" + RoundRobinPartitioner.class.getName());
		run(application, (context) -> {
			for (int i = 0; i < 1_000; i++) {
				decide(context, ANN.with(Dimension.TENANT, "tenant-" + i % 7));
			}
			awaitDelivered(context, 1_000);
		});
		Map<String, Long> last = new HashMap<>();
		Map<String, Integer> partitions = new HashMap<>();
		for (ConsumerRecord<String, String> entry : broker.read(this.topic)) {
			long id = read(entry).path("id").asLong();
			assertThat(id).isGreaterThan(last.getOrDefault(entry.key(), 0L));
			last.put(entry.key(), id);
			assertThat(entry.partition())
				.isEqualTo(partitions.computeIfAbsent(entry.key(), (key) -> entry.partition()));
		}
		assertThat(last).hasSize(7);
		assertThat(new HashSet<>(partitions.values())).hasSizeGreaterThan(1);
	}

	@Test
	void whatWaitsIsDeliveredBeforeTheApplicationEnds() throws Exception {
		UsageEvents events = run(application(broker.address()), (context) -> {
			for (int i = 0; i < 1_000; i++) {
				decide(context, ANN);
			}
		});
		assertThat(events.delivered()).isEqualTo(1_000);
		assertThat(broker.read(this.topic)).hasSize(1_000);
	}

	@Test
	void decisionsDoNotNoticeThatTheBrokerIsAway() throws Exception {
		String nobody = "127.0.0.1:1";
		long[] without = new long[1];
		application(nobody).withPropertyValues("ratelimit.events.enabled=false")
			.run((context) -> without[0] = p99OfDecisions(context));
		UsageEvents events = run(application(nobody).withPropertyValues("ratelimit.events.flush-timeout=100ms"),
				(context) -> {
					long with = p99OfDecisions(context);
					assertThat(Duration.ofNanos(with)).isLessThan(Duration.ofNanos(without[0]).plusMillis(1));
					UsageEvents counted = context.getBean(UsageEvents.class);
					assertThat(counted.dropped()).isEqualTo(2 * MEASURED - 1_000);
					assertThat(counter(context, "ratelimit.events.dropped")).isEqualTo(counted.dropped());
				});
		assertThat(events.delivered()).isZero();
		assertThat(events.dropped()).isEqualTo(2 * MEASURED);
	}

	@Test
	void everyDecisionIsDeliveredOrDroppedWhileTheBrokerGoesAndReturns() throws Exception {
		Traffic traffic = new Traffic();
		UsageEvents events = run(application(broker.address()).withPropertyValues("ratelimit.events.flush-timeout=20s"),
				(context) -> {
					UsageEvents counted = context.getBean(UsageEvents.class);
					traffic.start(context.getBean(RateLimiter.class));
					await().atMost(PATIENCE).until(() -> counted.delivered() > 500);
					broker.stop();
					await().atMost(PATIENCE).until(() -> counted.dropped() > 500);
					broker.start();
					long before = counted.delivered();
					await().atMost(PATIENCE).until(() -> counted.delivered() > before + 2_500);
					traffic.stop();
				});
		assertThat(events.delivered() + events.dropped()).isEqualTo(traffic.decided());
		assertEachThereOnce(events.delivered());
	}

	@Test
	void brokerThatComesLateGetsWhatWaited() throws Exception {
		broker.create(this.topic);
		broker.stop();
		application(broker.address()).run((context) -> {
			decide(context, ANN);
			decide(context, ANN);
			broker.start();
			awaitDelivered(context, 2);
		});
		assertThat(broker.read(this.topic)).hasSize(2);
	}

	@Test
	void topicThatIsMadeLateGetsWhatWaited() {
		application(broker.address()).run((context) -> {
			decide(context, ANN);
			broker.create(this.topic);
			awaitDelivered(context, 1);
		});
		assertThat(broker.read(this.topic)).hasSize(1);
	}

	@Test
	void eventThatIsTooLargeIsDropped() throws Exception {
		ApplicationContextRunner application = application(broker.address())
			.withPropertyValues("spring.kafka.producer.properties.max.request.size=100");
		UsageEvents events = run(application, (context) -> decide(context, ANN));
		assertThat(events.dropped()).isEqualTo(1);
		assertThat(broker.read(this.topic)).isEmpty();
	}

	@Test
	void eventWhoseConfirmationIsLostArrivesOnce() throws Exception {
		Traffic traffic = new Traffic();
		UsageEvents events = run(application(broker.addressBehindTheNetwork()), (context) -> {
			UsageEvents counted = context.getBean(UsageEvents.class);
			traffic.start(context.getBean(RateLimiter.class));
			for (int cut = 0; cut < 3; cut++) {
				long before = counted.delivered();
				await().atMost(PATIENCE).until(() -> counted.delivered() > before + 100);
				broker.network().delayReplies(Duration.ofMillis(400), Duration.ZERO);
				long asked = traffic.decided();
				await().atMost(PATIENCE).until(() -> traffic.decided() > asked + 300);
				broker.network().cut();
			}
			traffic.stop();
		});
		assertThat(events.delivered() + events.dropped()).isEqualTo(traffic.decided());
		assertEachThereOnce(events.delivered());
	}

	private ApplicationContextRunner application(String address) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class,
							RateLimitEventsAutoConfiguration.class, KafkaAutoConfiguration.class))
			.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("spring.kafka.bootstrap-servers=" + address, "ratelimit.events.enabled=true",
					"ratelimit.events.topic=" + this.topic, "ratelimit.events.buffer-size=1000",
					"ratelimit.events.flush-timeout=10s", "ratelimit.policies.orders.limits.per-user.by=tenant,user",
					"ratelimit.policies.orders.limits.per-user.quota=2/h");
	}

	/**
	 * Runs an application to its end.
	 * @return what it has counted by then
	 */
	private UsageEvents run(ApplicationContextRunner application, Consumer<AssertableApplicationContext> use)
			throws Exception {
		broker.create(this.topic);
		UsageEvents[] events = new UsageEvents[1];
		application.run((context) -> {
			events[0] = context.getBean(UsageEvents.class);
			use.accept(context);
		});
		return events[0];
	}

	private static Decision decide(AssertableApplicationContext context, Request request) {
		return context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
	}

	/** The first half warms up. */
	private static long p99OfDecisions(AssertableApplicationContext context) {
		RateLimiter limiter = context.getBean(RateLimiter.class);
		long[] nanos = new long[MEASURED];
		for (int i = 0; i < 2 * MEASURED; i++) {
			long start = System.nanoTime();
			limiter.check(ANN);
			nanos[i % MEASURED] = System.nanoTime() - start;
		}
		Arrays.sort(nanos);
		return nanos[MEASURED * 99 / 100];
	}

	private static void awaitDelivered(AssertableApplicationContext context, long events) {
		await().atMost(PATIENCE).until(() -> context.getBean(UsageEvents.class).delivered() == events);
		assertThat(counter(context, "ratelimit.events.delivered")).isEqualTo(events);
		assertThat(counter(context, "ratelimit.events.dropped")).isZero();
	}

	private static double counter(AssertableApplicationContext context, String name) {
		return context.getBean(MeterRegistry.class).get(name).functionCounter().count();
	}

	private void assertEachThereOnce(long delivered) {
		List<ConsumerRecord<String, String>> records = broker.read(this.topic);
		Set<String> ids = new HashSet<>();
		records.forEach((entry) -> ids.add(read(entry).path("id").asText()));
		assertThat(records.size()).isEqualTo(ids.size());
		assertThat((long) records.size()).isEqualTo(delivered);
	}

	private static JsonNode read(ConsumerRecord<String, String> entry) {
		try {
			return JSON.readTree(entry.value());
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

}
