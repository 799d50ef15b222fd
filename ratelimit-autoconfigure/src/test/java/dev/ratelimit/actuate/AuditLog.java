package dev.ratelimit.actuate;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.slf4j.LoggerFactory;

/** What is written to the audit log from its creation on. */
final class AuditLog implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("dev.ratelimit.audit");

	private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

	AuditLog() {
		this.logger.setLevel(Level.INFO);
		this.appender.start();
		this.logger.addAppender(this.appender);
	}

	List<String> lines() {
		return this.appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this.appender);
		this.logger.setLevel(null);
	}

}
