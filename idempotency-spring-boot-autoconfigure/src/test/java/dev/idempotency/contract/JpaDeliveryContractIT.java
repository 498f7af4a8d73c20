package dev.idempotency.contract;

import java.util.EnumSet;

/** The delivery contract on a {@code JpaTransactionManager}: every kind of delivery, and every strategy once. */
class JpaDeliveryContractIT extends DeliveryContract {

    JpaDeliveryContractIT() {
        super(
                ContractApplication.OnJpa.class,
                EnumSet.of(
                        Kind.RECORD,
                        Kind.BATCH,
                        Kind.POLL,
                        Kind.MANUAL,
                        Kind.MANUAL_BATCH,
                        Kind.OWN_HANDLER,
                        Kind.RETRYABLE,
                        Kind.OFFSET,
                        Kind.VERSION_POLL,
                        Kind.UNIQUE_BATCH));
    }
}
