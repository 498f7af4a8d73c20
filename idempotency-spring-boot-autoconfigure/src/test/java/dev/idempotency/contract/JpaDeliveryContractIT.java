package dev.idempotency.contract;

/** The delivery contract on a {@code JpaTransactionManager}. */
class JpaDeliveryContractIT extends DeliveryContract {

    JpaDeliveryContractIT() {
        super(ContractApplication.OnJpa.class);
    }
}
