package dev.idempotency.kotlin

import dev.idempotency.IdempotentListener
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import org.springframework.kafka.annotation.KafkaListener

/** Listeners that would run unprotected, each for a different reason. */
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

/** A class that is not declared open, so Kotlin compiles it and its methods as final. */
class PlainKotlinListener {

    @KafkaListener(topics = ["any"])
    @IdempotentListener
    fun plain(text: String) = Unit
}
