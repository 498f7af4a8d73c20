package dev.idempotency.kotlin

import dev.idempotency.IdempotentListener
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import org.springframework.kafka.annotation.KafkaListener

/** Listeners that would run unprotected, each for a reason of its own. */
open class UnprotectedKotlinListeners {

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    open suspend fun suspending(text: String) = Unit

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    open fun deferred(text: String): Deferred<Unit>? = null

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    open fun flow(text: String): Flow<String>? = null

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    fun finalMethod(text: String) = Unit
}

/** What Kotlin makes of a class, and of its methods, that nobody calls open. */
class PlainKotlinListener {

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    fun plain(text: String) = Unit
}
