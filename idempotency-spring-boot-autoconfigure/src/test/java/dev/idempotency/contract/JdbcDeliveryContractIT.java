package dev.idempotency.contract;

/** The delivery contract on a {@code JdbcTransactionManager}. */
class JdbcDeliveryContractIT extends DeliveryContract {

    JdbcDeliveryContractIT() {
        super(ContractApplication.OnJdbc.class);
    }
}
