package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.function.LongConsumer;

import io.r2dbc.postgresql.api.Notification;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ValidationDepth;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Listeners;

/**
 * Receives notifications of writes on a connection of its own, and reconnects when that
 * is lost.
 */
final class Notifications {

	private static final Logger logger = LoggerFactory.getLogger(Notifications.class);

	/**
	 * An idle connection does not notice that the server is gone. No longer than the
	 * replica's poll, or notifications would gain nothing.
	 */
	private static final Duration VALIDATE_EVERY = Duration.ofSeconds(5);

	private static final boolean DRIVER = isPresent("io.r2dbc.postgresql.api.PostgresqlConnection");

	private final Database database;

	private final Schema schema;

	Notifications(Database database, Schema schema) {
		this.database = database;
		this.schema = schema;
	}

	Disposable subscribe(LongConsumer listener) {
		FailureLog failures = new FailureLog(logger,
				"No notifications from the database ({}); policy changes are found by polling until they are back",
				"Notifications from the database are back");
		return this.schema.ready()
			.flatMapMany((notifies) -> notifies
					? this.database.<Long>apart((session) -> DRIVER ? Driver.listen(session) : silence()) : silence())
			.doOnNext((revision) -> {
				failures.worked();
				Listeners.call(listener, (one) -> one.accept(revision));
			})
			.retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(100))
				.maxBackoff(Duration.ofSeconds(2))
				.transientErrors(true)
				.doBeforeRetry((signal) -> failures.failed(signal.failure().getClass().getSimpleName())))
			.subscribe();
	}

	private static Flux<Long> silence() {
		logger.info("This database or its driver has no notifications; policy changes are found by polling");
		return Flux.empty();
	}

	/** The only class that needs the driver, which an application may not have. */
	private static final class Driver {

		static Publisher<Long> listen(Session session) {
			if (!(session.connection() instanceof PostgresqlConnection connection)) {
				return silence();
			}
			Flux<Long> received = connection.getNotifications()
				.filter((notification) -> RecordWrite.CHANNEL.equals(notification.getName()))
				.map(Driver::revision)
				.concatWith(Mono.error(() -> new IllegalStateException("the connection was closed")));
			Mono<Long> begun = session.run("LISTEN " + RecordWrite.CHANNEL).timeout(Database.DEADLINE).thenReturn(0L);
			return Flux.merge(received, begun, alive(connection));
		}

		private static Flux<Long> alive(Connection connection) {
			return Flux.interval(VALIDATE_EVERY)
				.onBackpressureDrop()
				.concatMap((tick) -> Mono.from(connection.validate(ValidationDepth.REMOTE)).timeout(Database.DEADLINE))
				.concatMap((valid) -> valid ? Mono.<Long>empty()
						: Mono.error(() -> new IllegalStateException("the connection is dead")));
		}

		/** 0, which makes the listener read, if the text is not a revision. */
		private static long revision(Notification notification) {
			String text = notification.getParameter();
			return (text != null && text.matches("\\d{1,18}")) ? Long.parseLong(text) : 0;
		}

	}

	private static boolean isPresent(String type) {
		try {
			Class.forName(type, false, Notifications.class.getClassLoader());
			return true;
		}
		catch (ClassNotFoundException ex) {
			return false;
		}
	}

}
