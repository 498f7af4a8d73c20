dependencies {
    "api"(project(":idempotency-spring-boot-autoconfigure"))
    "api"(project(":idempotency-kafka"))
    "api"(project(":idempotency-operators"))
    "api"(libs.spring.boot.starter)
    "api"(libs.spring.boot.starter.kafka)
    "api"(libs.spring.boot.starter.jdbc)
    "api"(libs.flyway.core)
    "api"(libs.flyway.postgresql)
    "api"(libs.micrometer.core)

    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(project(":test-support"))
    "testImplementation"(libs.postgresql)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.starter") } }
