package dev.idempotency.inbox;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;

class H2InboxIT extends AbstractInboxIT {

    /** It looks for the row first and inserts it then. */
    @Override
    boolean isToBeExpected(DataAccessException failure) {
        return failure instanceof DuplicateKeyException;
    }

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:inbox;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;TIME ZONE=-09:30";
    }
}
