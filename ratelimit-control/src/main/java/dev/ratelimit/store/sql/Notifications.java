package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

import io.r2dbc.postgresql.api.Notification;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ValidationDepth;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Hears of writes on a connection of its own, which is made anew whenever it is lost.
 */
final class Notifications {

	private static final Logger logger = LoggerFactory.getLogger(Notifications.class);

	/**
	 * An idle connection does not notice that its other end is gone. Less than the poll
	 * of the readers, or nothing would be won.
	 */
	private static final Duration LOOK_EVERY = Duration.ofSeconds(5);

	private static final boolean DRIVER = ClassUtils.isPresent("io.r2dbc.postgresql.api.PostgresqlConnection",
			Notifications.class.getClassLoader());

	private final Database database;

	private final Schema schema;

	Notifications(Database database, Schema schema) {
		this.database = database;
		this.schema = schema;
	}

	Disposable subscribe(LongConsumer listener) {
		AtomicBoolean lost = new AtomicBoolean();
		return this.schema.ready()
			.flatMapMany((dialect) -> (dialect == Dialect.POSTGRESQL) ? heard() : silence())
			.doOnNext((revision) -> {
				if (lost.compareAndSet(true, false)) {
					logger.info("Notifications from the database are back");
				}
				tell(listener, revision);
			})
			.retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(100))
				.maxBackoff(Duration.ofSeconds(2))
				.transientErrors(true)
				.doBeforeRetry((signal) -> {
					if (lost.compareAndSet(false, true)) {
						logger.warn("No notifications from the database ({}); changes of policies are found by polling "
								+ "until they are back", signal.failure().getClass().getSimpleName());
					}
				}))
			.subscribe();
	}

	private Flux<Long> heard() {
		return this.database.<Long>apart((session) -> DRIVER ? Driver.listen(session) : silence());
	}

	private static Flux<Long> silence() {
		logger.info("This database or its driver has no notifications; changes of policies are found by polling");
		return Flux.empty();
	}

	private static void tell(LongConsumer listener, long revision) {
		try {
			listener.accept(revision);
		}
		catch (RuntimeException ex) {
			logger.warn("A listener to changes of policies failed; it hears of the next ones", ex);
		}
	}

	/**
	 * The only one that knows the driver, which an application may not have.
	 */
	private static final class Driver {

		static Publisher<Long> listen(Session session) {
			if (!(session.connection() instanceof PostgresqlConnection connection)) {
				return silence();
			}
			Flux<Long> heard = connection.getNotifications()
				.filter((notification) -> RecordWrite.CHANNEL.equals(notification.getName()))
				.map(Driver::revision)
				.concatWith(Mono.error(() -> new IllegalStateException("the connection was closed")));
			Mono<Long> begun = session.run("LISTEN " + RecordWrite.CHANNEL).timeout(Database.DEADLINE).thenReturn(0L);
			return Flux.merge(heard, begun, alive(connection));
		}

		private static Flux<Long> alive(Connection connection) {
			return Flux.interval(LOOK_EVERY)
				.onBackpressureDrop()
				.concatMap((tick) -> Mono.from(connection.validate(ValidationDepth.REMOTE)).timeout(Database.DEADLINE))
				.concatMap((valid) -> valid ? Mono.<Long>empty()
						: Mono.error(() -> new IllegalStateException("the connection is dead")));
		}

		/** 0, "look yourself", for what somebody else has sent. */
		private static long revision(Notification notification) {
			String text = notification.getParameter();
			return (text != null && text.matches("\\d{1,18}")) ? Long.parseLong(text) : 0;
		}

	}

}
