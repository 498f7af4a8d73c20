package dev.idempotency.kotlin

import dev.idempotency.IdempotentListener
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.springframework.jdbc.core.simple.JdbcClient
import org.springframework.kafka.annotation.KafkaListener
import org.springframework.kafka.support.KafkaHeaders
import org.springframework.messaging.handler.annotation.Header
import org.springframework.messaging.handler.annotation.Payload

/** Listeners written in Kotlin; {@code open} is written where the plugin kotlin-spring would add it. */
open class KotlinListeners(private val jdbc: JdbcClient, private val currency: String = "EUR") {

    init {
        jdbc.sql("create table booking (listener varchar(100) not null, text varchar(100) not null)").update()
    }

    @KafkaListener(topics = ["\${data-class}"])
    @IdempotentListener(key = "#payment.id")
    open fun dataClass(payment: Payment) {
        book("dataClass", "${payment.id}: ${payment.amount} $currency")
    }

    @KafkaListener(topics = ["\${default-argument}"])
    @IdempotentListener
    open fun defaultArgument(
        payment: Payment,
        @Header(KafkaHeaders.RECEIVED_KEY, required = false) key: String? = "none",
    ) {
        book("defaultArgument", "${payment.id} by $key")
    }

    @KafkaListener(topics = ["\${test-kit}"])
    @IdempotentListener("testKit")
    open fun testKit(payment: Payment) {
        book("testKit", payment.id)
    }

    @KafkaListener(topics = ["\${internal-fun}"])
    @IdempotentListener
    internal open fun internalFun(payment: Payment) {
        book("internalFun", payment.id)
    }

    @KafkaListener(topics = ["\${nullable}"])
    @IdempotentListener
    open fun nullable(@Payload(required = false) payment: Payment?) {
        book("nullable", payment?.id ?: "gone")
    }

    @KafkaListener(topics = ["\${nullable-key}"])
    @IdempotentListener(key = "#payment?.id ?: #record.key()")
    open fun nullableKey(@Payload(required = false) payment: Payment?) {
        book("nullableKey", payment?.id ?: "gone")
    }

    @KafkaListener(topics = ["\${batch}"], batch = "true")
    @IdempotentListener(key = "#payments.id")
    open fun batch(payments: List<Payment>, @Header(KafkaHeaders.RECEIVED_KEY) keys: List<String>) {
        payments.zip(keys).forEach { (payment, key) -> book("batch", "${payment.id} by $key") }
    }

    /** ConsumerRecord is open in Kotlin, so on the JVM the parameter is a list with a wildcard type. */
    @KafkaListener(topics = ["\${batch-of-records}"], batch = "true")
    @IdempotentListener
    open fun batchOfRecords(records: List<ConsumerRecord<String, String?>>) {
        records.forEach { book("batchOfRecords", it.value() ?: "gone") }
    }

    private fun book(listener: String, text: String) {
        jdbc.sql("insert into booking (listener, text) values (?, ?)").params(listener, text).update()
    }
}
