package dev.ratelimit.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.slf4j.LoggerFactory;

/** What is written to a log from its creation on. */
public final class CapturedLog implements AutoCloseable {

	private final Logger logger;

	private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

	public CapturedLog(String name) {
		this.logger = (Logger) LoggerFactory.getLogger(name);
		this.logger.setLevel(Level.INFO);
		// Other threads write to it while a test reads it.
		this.appender.list = new CopyOnWriteArrayList<>();
		this.appender.start();
		this.logger.addAppender(this.appender);
	}

	public List<String> lines() {
		return this.appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this.appender);
		this.logger.setLevel(null);
	}

}
