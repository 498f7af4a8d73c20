package dev.idempotency.contract;

import java.util.EnumSet;

/** The delivery contract on a {@code JdbcTransactionManager}. */
class JdbcDeliveryContractIT extends DeliveryContract {

    JdbcDeliveryContractIT() {
        super(ContractApplication.OnJdbc.class, EnumSet.allOf(Kind.class));
    }
}
