package dev.ratelimit.events;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;

/**
 * A topic. The producer is made when it is first needed, by the thread that sends: making
 * one fails while the broker's name cannot be resolved. After a fatal error the producer
 * is replaced within a second. Spring's {@code ProducerFactory} gives its settings only:
 * it shares and wraps producers, keeps the application's transactions, serializers and
 * interceptors, and cannot replace a producer that has failed.
 */
final class KafkaOutlet implements EventOutlet {

	private static final Logger logger = LoggerFactory.getLogger(UsageEvents.class);

	private static final List<Header> HEADERS = List
		.of(new RecordHeader("content-type", EventFormat.CONTENT_TYPE.getBytes(StandardCharsets.US_ASCII)));

	/** Settings of the application that are about records of its own. */
	private static final List<String> OF_OTHER_RECORDS = List.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG,
			ProducerConfig.PARTITIONER_CLASS_CONFIG, ProducerConfig.INTERCEPTOR_CLASSES_CONFIG);

	private static final long RENEW_NANOS = Duration.ofSeconds(1).toNanos();

	/** How long the client may hold up our thread, and so the end of the application. */
	private static final int MAX_BLOCK_MILLIS = 500;

	private static final int LINGER_MILLIS = 50;

	private final Supplier<Map<String, Object>> settings;

	private final String topic;

	private @Nullable Producer<byte[], byte[]> producer;

	private long notBefore = System.nanoTime();

	private final FailureLog failures = new FailureLog(logger,
			"The Kafka producer of usage events cannot be created and is tried again every second: {}",
			"The Kafka producer of usage events was created");

	KafkaOutlet(Supplier<Map<String, Object>> settings, String topic) {
		this.settings = settings;
		this.topic = topic;
	}

	@Override
	public boolean take(EventMessage message, Fate fate) {
		Producer<byte[], byte[]> producer = producer(fate);
		if (producer == null) {
			return false;
		}
		Handover handover = new Handover(fate);
		try {
			producer.send(new ProducerRecord<>(this.topic, null, null, message.key(), message.value(), HEADERS),
					handover);
		}
		catch (RuntimeException | LinkageError ex) {
			handover.lost((ex instanceof RuntimeException failure) ? failure : new IllegalStateException(ex));
			retire();
		}
		return handover.taken();
	}

	@Override
	public void close(Duration atMost) {
		Producer<byte[], byte[]> producer = this.producer;
		this.producer = null;
		if (producer != null) {
			try {
				producer.close(atMost);
			}
			catch (RuntimeException ex) {
				logger.debug("Closing the producer of usage events failed", ex);
			}
		}
	}

	private @Nullable Producer<byte[], byte[]> producer(Fate fate) {
		if (this.producer == null && System.nanoTime() - this.notBefore >= 0) {
			try {
				this.producer = new KafkaProducer<>(settings());
				this.failures.worked();
			}
			catch (RuntimeException ex) {
				this.notBefore = System.nanoTime() + RENEW_NANOS;
				fate.delayed(ex);
				this.failures
					.failed(String.valueOf((ex.getCause() != null) ? ex.getCause().getMessage() : ex.getMessage()));
			}
		}
		return this.producer;
	}

	private void retire() {
		this.notBefore = System.nanoTime() + RENEW_NANOS;
		close(Duration.ZERO);
	}

	/**
	 * The application's settings, with those that exact counts depend on. The client
	 * retries a record for ever, because a record that it gives up may have reached the
	 * topic; the idempotent producer writes it only once.
	 */
	private Map<String, Object> settings() {
		Map<String, Object> settings = new HashMap<>(this.settings.get());
		settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, LINGER_MILLIS);
		settings.putIfAbsent(CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG, "rebootstrap");
		OF_OTHER_RECORDS.forEach(settings::remove);
		settings.put(ProducerConfig.CLIENT_ID_CONFIG, "ratelimit-events");
		settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
		settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
		settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
		settings.put(ProducerConfig.ACKS_CONFIG, "all");
		settings.put(ProducerConfig.RETRIES_CONFIG, Integer.MAX_VALUE);
		settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
		settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
		settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MILLIS);
		return settings;
	}

	/**
	 * Reports the fate of one record, once: after a fatal error the client throws and
	 * calls back. If the client has no room or no partition for a record, it calls back
	 * from within the call; such a record was never taken.
	 */
	private static final class Handover implements Callback {

		private final Fate fate;

		private final Thread caller = Thread.currentThread();

		private final AtomicBoolean reported = new AtomicBoolean();

		/** Only read by the caller. */
		private boolean handed;

		private boolean refused;

		Handover(Fate fate) {
			this.fate = fate;
		}

		@Override
		public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception failure) {
			if (failure == null) {
				if (this.reported.compareAndSet(false, true)) {
					this.fate.delivered();
				}
			}
			else if (failure instanceof RetriableException && Thread.currentThread() == this.caller && !this.handed) {
				this.refused = true;
				this.fate.delayed(failure);
			}
			else {
				lost(failure);
			}
		}

		void lost(Exception failure) {
			if (this.reported.compareAndSet(false, true)) {
				this.fate.lost(failure);
			}
		}

		boolean taken() {
			this.handed = true;
			return !this.refused;
		}

	}

}
