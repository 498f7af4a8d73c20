package dev.idempotency.internal.failure;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What was logged about failures while it is open. */
final class FailureLog implements AutoCloseable {

    static final String ALL = org.slf4j.Logger.ROOT_LOGGER_NAME;

    private final Logger logger;
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    FailureLog(String name) {
        this.logger = (Logger) LoggerFactory.getLogger(name);
        this.appender.start();
        this.logger.addAppender(this.appender);
    }

    List<String> lines() {
        return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    /** The lines, with the messages of the exceptions that were logged with them. */
    List<String> linesWithExceptions() {
        return events().stream()
                .map(event -> event.getFormattedMessage()
                        + ((event.getThrowableProxy() != null)
                                ? " " + event.getThrowableProxy().getMessage()
                                : ""))
                .toList();
    }

    /** The list is one for a single thread, and the appender adds to it on any, in its own monitor. */
    private List<ILoggingEvent> events() {
        synchronized (this.appender) {
            return List.copyOf(this.appender.list);
        }
    }

    @Override
    public void close() {
        this.logger.detachAppender(this.appender);
    }
}
