package dev.idempotency.listener.ledger;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** A booking, kept with Spring Data JDBC. */
@Table("booking")
public record Booking(@Id @Nullable Integer id, String text) {}
