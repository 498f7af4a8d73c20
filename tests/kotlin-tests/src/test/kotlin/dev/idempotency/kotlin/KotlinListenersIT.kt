package dev.idempotency.kotlin

import dev.idempotency.test.IdempotencyTester
import dev.idempotency.testing.TestDatabase
import dev.idempotency.testing.TestKafka
import dev.idempotency.testing.TestPostgres
import java.time.Duration
import java.util.concurrent.TimeUnit
import org.apache.kafka.clients.producer.ProducerRecord
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.catchThrowable
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.jdbc.core.simple.JdbcClient
import org.springframework.kafka.core.KafkaTemplate
import org.springframework.kafka.support.converter.JacksonJsonMessageConverter

/** One application with all of the listeners, each with a separate topic. */
class KotlinListenersIT {

    @Test
    fun aDataClassIsRecognizedByItsPropertyAndGetsItsDefaultArguments() {
        send("data-class", payment("a", 5))
        send("data-class", payment("a", 5))
        send("data-class", payment("b"))

        awaitBookings("dataClass", "a: 5 EUR", "b: 1 EUR")
    }

    @Test
    fun aFunctionWithADefaultArgumentIsOneListener() {
        send("default-argument", payment("a"), id = "1", key = "k")
        send("default-argument", payment("a"), id = "1", key = "k")
        send("default-argument", payment("b"), id = "2")

        // Spring Kafka passes all arguments, so the default is not used.
        awaitBookings("defaultArgument", "a by k", "b by null")
        assertThat(consumers("defaultArgument")).containsExactly("kotlin/KotlinListeners.defaultArgument")
    }

    @Test
    fun theConsumerNameOfAnInternalFunctionIsWithoutTheNameOfItsModule() {
        send("internal-fun", payment("a"), id = "1")
        send("internal-fun", payment("a"), id = "1")
        send("internal-fun", payment("b"), id = "2")

        awaitBookings("internalFun", "a", "b")
        assertThat(consumers("internalFun")).containsExactly("kotlin/KotlinListeners.internalFun")
    }

    @Test
    fun aTombstoneIsNullToANullablePayload() {
        send("nullable", payment("a"), id = "1")
        send("nullable", null, id = "2")
        send("nullable", null, id = "2")
        send("nullable", payment("b"), id = "3")

        awaitBookings("nullable", "a", "gone", "b")
    }

    @Test
    fun aKeyMayAskWhetherTheNullablePayloadIsThere() {
        send("nullable-key", payment("a"), key = "k")
        send("nullable-key", null, key = "k")
        send("nullable-key", null, key = "k")
        send("nullable-key", payment("b"), key = "k")

        awaitBookings("nullableKey", "a", "gone", "b")
    }

    @Test
    fun aBatchOfADataClassHasItsDuplicatesTakenOutOfAllItsLists() {
        send("batch", payment("a"), key = "1")
        send("batch", payment("a"), key = "2")
        send("batch", payment("b"), key = "3")

        awaitBookings("batch", "a by 1", "b by 3")
    }

    @Test
    fun aBatchOfRecordsHasItsDuplicatesTakenOutAndKeepsItsTombstones() {
        send("batch-of-records", "a", id = "1")
        send("batch-of-records", "a", id = "1")
        send("batch-of-records", null, id = "2")
        send("batch-of-records", "b", id = "3")

        awaitBookings("batchOfRecords", "a", "gone", "b")
    }

    @Test
    fun theTestKitIsUsedAsInJava() {
        val record = ProducerRecord<String, String>(topics.getValue("test-kit"), payment("a"))
        record.headers().add("message-id", "1".toByteArray())
        val tester = application.getBean(IdempotencyTester::class.java)

        tester.consumer("testKit").deliver(record).concurrently(3)

        assertThat(tester.consumer("testKit")).hasProcessed("1").hasDropped(2)
        awaitBookings("testKit", "a")
    }

    @ParameterizedTest
    @CsvSource(
        "'.suspending(String, Continuation)', The method is a suspend function, Remove suspend",
        ".deferred(String), The method returns a Deferred, Return void",
        ".flow(String), The method returns a Flow, Return void",
        ".finalMethod(String), The method is final, the plugin kotlin-spring",
        ".plain(String), The method is final, the plugin kotlin-spring",
    )
    fun whatWouldRunUnprotectedIsRefusedAtStartUp(where: String, what: String, remedy: String) {
        assertThat(refusal.lines()).anySatisfy { line -> assertThat(line).contains(where, what, remedy) }
    }

    companion object {

        private val topics =
            listOf("data-class", "default-argument", "internal-fun", "nullable", "nullable-key", "batch", "batch-of-records", "test-kit")
                .associateWith { TestKafka.createTopic(it, 1) }

        private lateinit var database: TestDatabase
        private lateinit var application: ConfigurableApplicationContext
        private lateinit var refusal: String

        @BeforeAll
        @JvmStatic
        fun start() {
            database = TestPostgres.createDatabase()
            val failure = catchThrowable { start(UnprotectedApplication::class.java).close() }
            refusal = generateSequence(failure) { it.cause }.last().message!!
            application = start(KotlinApplication::class.java)
        }

        private fun start(type: Class<*>): ConfigurableApplicationContext =
            SpringApplicationBuilder(type)
                .web(WebApplicationType.NONE)
                .properties(topics)
                .properties(
                    "spring.datasource.url=${database.jdbcUrl()}",
                    "spring.kafka.bootstrap-servers=${TestKafka.bootstrapServers()}",
                    "spring.kafka.consumer.group-id=kotlin",
                    "spring.kafka.consumer.auto-offset-reset=earliest",
                    "spring.kafka.consumer.fetch-max-wait=50ms",
                    "spring.main.banner-mode=off",
                    "idempotency.test.allow-outside-tests=true",
                )
                .run()

        @AfterAll
        @JvmStatic
        fun stop() {
            application.close()
            database.close()
        }
    }

    private fun payment(id: String, amount: Int? = null) =
        if (amount == null) """{"id": "$id"}""" else """{"id": "$id", "amount": $amount}"""

    private fun send(listener: String, value: String?, id: String? = null, key: String? = null) {
        val record = ProducerRecord<String, String>(topics.getValue(listener), key, value)
        if (id != null) {
            record.headers().add("message-id", id.toByteArray())
        }
        @Suppress("UNCHECKED_CAST") // Spring Boot's template with string serializers.
        val kafka = application.getBean(KafkaTemplate::class.java) as KafkaTemplate<String, String>
        kafka.send(record).get(30, TimeUnit.SECONDS)
    }

    /** The last booking shows that all messages before it were booked or dropped. */
    private fun awaitBookings(listener: String, vararg texts: String) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted {
            assertThat(query("select text from booking where listener = ?", listener)).containsExactly(*texts)
        }
    }

    private fun consumers(listener: String): List<String> =
        query("select distinct consumer_id from idempotency_processed where consumer_id like ?", "%$listener%")

    private fun query(sql: String, parameter: String): List<String> =
        application.getBean(JdbcClient::class.java).sql(sql).param(parameter).query(String::class.java).list().filterNotNull()

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(KotlinListeners::class)
    class KotlinApplication {

        @Bean
        fun messageConverter() = JacksonJsonMessageConverter()
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(UnprotectedKotlinListeners::class, PlainKotlinListener::class)
    class UnprotectedApplication
}
