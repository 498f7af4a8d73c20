package dev.idempotency.listener.ledger;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** An account, kept with JPA. */
@Entity
public class Account {

    @Id
    private String name;

    private int balance;

    protected Account() {}

    public Account(String name) {
        this.name = name;
    }

    public void credit(int amount) {
        this.balance += amount;
    }
}
