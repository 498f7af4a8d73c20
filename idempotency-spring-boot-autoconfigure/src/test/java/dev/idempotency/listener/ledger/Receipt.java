package dev.idempotency.listener.ledger;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.springframework.data.domain.Persistable;

/** A receipt that is only ever inserted, also by a repository's {@code save}. */
@Entity
public class Receipt implements Persistable<String> {

    @Id
    private String id;

    protected Receipt() {}

    public Receipt(String id) {
        this.id = id;
    }

    @Override
    public String getId() {
        return this.id;
    }

    @Override
    public boolean isNew() {
        return true;
    }
}
