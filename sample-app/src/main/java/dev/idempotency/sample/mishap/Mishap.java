package dev.idempotency.sample.mishap;

import java.io.Serial;

/** A failure after the work of a listener. */
public enum Mishap {

    /** The listener throws before its transaction is committed. */
    FAILED_ATTEMPT {
        @Override
        void happen(String paymentId) {
            throw new IllegalStateException("A planned failure, after the work on payment " + paymentId);
        }
    },

    /**
     * The consumer dies after the commit of its transaction and before that of the offset. A {@link VirtualMachineError} stops
     * the container immediately, and the record is redelivered to the next consumer, as after a crash.
     */
    KILLED_CONSUMER {
        @Override
        void happen(String paymentId) {
            throw new ConsumerKilled("A planned crash, before the offset of payment " + paymentId + " is committed");
        }
    },

    /** The listener has a bug: the payment is not retried but dead-lettered. */
    BUG {
        @Override
        void happen(String paymentId) {
            throw new ClassCastException("A planned bug, which payment " + paymentId + " has met with");
        }

        @Override
        boolean lasts() {
            return true;
        }
    };

    abstract void happen(String paymentId);

    /** Whether it happens at every delivery. */
    boolean lasts() {
        return false;
    }

    private static final class ConsumerKilled extends VirtualMachineError {

        @Serial
        private static final long serialVersionUID = 1L;

        ConsumerKilled(String message) {
            super(message);
        }

        /** Omits the stack trace: the failure is planned, and the log stays short. */
        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }
}
