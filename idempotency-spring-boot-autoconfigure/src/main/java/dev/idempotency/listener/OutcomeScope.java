package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;

/** What is around a record while it is told what became of it, such as its observation. */
interface OutcomeScope {

    /** Nothing. */
    OutcomeScope NONE = new OutcomeScope() {

        @Override
        public void within(RecordCoordinates message, Runnable news) {
            news.run();
        }

        @Override
        public void withinFailed(Runnable news) {
            news.run();
        }
    };

    /** Tells something of the record of a message. */
    void within(RecordCoordinates message, Runnable news);

    /** Tells something of the record that has failed. */
    void withinFailed(Runnable news);
}
