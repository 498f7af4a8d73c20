package dev.idempotency.kotlin

/** A payload with default arguments, which are the constructor's for what the JSON does not say. */
data class Payment(val id: String, val amount: Int = 1)
