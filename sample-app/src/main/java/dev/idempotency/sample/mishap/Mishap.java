package dev.idempotency.sample.mishap;

import java.io.Serial;

/** Something that goes wrong once a listener has done its work. */
public enum Mishap {

    /** The listener throws before its transaction is committed. */
    FAILED_ATTEMPT {
        @Override
        void happen(String paymentId) {
            throw new IllegalStateException("A planned failure, after the work on payment " + paymentId);
        }
    },

    /**
     * The consumer dies when its transaction is committed, and the offset is not. A {@link VirtualMachineError} stops the
     * container there and then; the next consumer gets the record again, as after a crash.
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

    /** Whether it happens again and again. */
    boolean lasts() {
        return false;
    }

    private static final class ConsumerKilled extends VirtualMachineError {

        @Serial
        private static final long serialVersionUID = 1L;

        ConsumerKilled(String message) {
            super(message);
        }

        /** None: it is planned, and the log stays short. */
        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }
}
