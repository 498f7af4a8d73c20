plugins { alias(libs.plugins.kotlin.jvm) }

dependencies {
    "testImplementation"(project(":idempotency-spring-boot-starter"))
    "testImplementation"(project(":idempotency-spring-boot-test"))
    "testImplementation"(project(":test-support"))
    "testImplementation"(libs.spring.boot.starter.test)
    "testImplementation"(libs.kotlin.stdlib)
    "testImplementation"(libs.kotlin.reflect)
    "testImplementation"(libs.kotlinx.coroutines.core)
    "testImplementation"(libs.jackson.module.kotlin)
}

kotlin {
    compilerOptions {
        jvmTarget.set(org.jetbrains.kotlin.gradle.dsl.JvmTarget.JVM_17)
        allWarningsAsErrors.set(true)
    }
}
