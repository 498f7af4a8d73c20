dependencies {
    "api"(project(":idempotency-core"))
    "api"(libs.springkafka)

    "optional"(libs.springboot)
    "optional"(libs.jakarta.persistence)
    "optional"(libs.json.path)
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.kafka") } }
