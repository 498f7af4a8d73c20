package dev.idempotency.kotlin

/** A payload whose constructor has a default argument for a property that is missing in the JSON. */
data class Payment(val id: String, val amount: Int = 1)
