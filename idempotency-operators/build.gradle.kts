dependencies {
    "api"(project(":idempotency-kafka"))
}

tasks.named<Jar>("jar") { manifest { attributes("Automatic-Module-Name" to "dev.idempotency.operators") } }
