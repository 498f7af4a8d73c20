package dev.idempotency.definition;

/** Whether the records of a poll share one transaction, and how they are claimed in it. */
public enum PollSharing {

    /** Each record has a transaction of its own, or the container delivers batches anyway. */
    NONE,

    /** All are claimed before the first is handed to the listener: their ids are known from the records. */
    CLAIMED_TOGETHER,

    /** Each is claimed when it is handed to the listener, as what happens until then decides on its id. */
    CLAIMED_ONE_BY_ONE
}
