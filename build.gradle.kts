plugins {
    alias(libs.plugins.spotless) apply false
    alias(libs.plugins.spring.boot) apply false
}

subprojects {
    apply(plugin = "java-library")
    apply(plugin = "com.diffplug.spotless")

    group = "dev.idempotency"
    version = "0.1.0-SNAPSHOT"

    // What a user may not have: there to compile and to test with, never passed on.
    val optional = configurations.create("optional")
    configurations.named("compileOnly") { extendsFrom(optional) }
    configurations.named("testImplementation") { extendsFrom(optional) }

    dependencies {
        "implementation"(platform(rootProject.libs.spring.boot.dependencies))
        "implementation"(platform(rootProject.libs.embedded.postgres.binaries.bom))
        "optional"(platform(rootProject.libs.spring.boot.dependencies))
        "annotationProcessor"(platform(rootProject.libs.spring.boot.dependencies))
        "testRuntimeOnly"(rootProject.libs.junit.platform.launcher)
    }

    tasks.withType<JavaCompile>().configureEach {
        options.release.set(17)
        options.encoding = "UTF-8"
        options.compilerArgs.addAll(listOf("-parameters", "-Xlint:all,-processing,-classfile,-options", "-Werror"))
    }

    // One JVM for a module's tests, so that they share one PostgreSQL and one Kafka broker. Few live long enough for the
    // second compiler to pay.
    tasks.withType<Test>().configureEach {
        useJUnitPlatform()
        jvmArgs("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+EnableDynamicAgentLoading")
        include("**/*Tests.class", "**/*IT.class")
    }

    configure<com.diffplug.gradle.spotless.SpotlessExtension> {
        java {
            palantirJavaFormat(rootProject.libs.versions.palantir.java.format.get())
            removeUnusedImports()
            trimTrailingWhitespace()
            endWithNewline()
        }
    }
}

// The modules that go to Maven Central.
configure(listOf(project(":idempotency-spring-boot-autoconfigure"), project(":idempotency-spring-boot-starter"))) {
    apply(plugin = "maven-publish")

    configure<JavaPluginExtension> {
        withSourcesJar()
        withJavadocJar()
    }

    configure<PublishingExtension> {
        publications {
            create<MavenPublication>("library") {
                from(components["java"])
                versionMapping { allVariants { fromResolutionResult() } }
                pom {
                    name.set(project.name)
                    description.set("Exactly-once effects for Spring Kafka listeners: one annotation, one table, one transaction.")
                    url.set("https://github.com/idempotency-dev/idempotency-spring-boot")
                    licenses {
                        license {
                            name.set("Apache License, Version 2.0")
                            url.set("https://www.apache.org/licenses/LICENSE-2.0")
                        }
                    }
                    developers { developer { name.set("The idempotency-spring-boot team") } }
                    scm {
                        connection.set("scm:git:https://github.com/idempotency-dev/idempotency-spring-boot.git")
                        developerConnection.set("scm:git:ssh://git@github.com/idempotency-dev/idempotency-spring-boot.git")
                        url.set("https://github.com/idempotency-dev/idempotency-spring-boot")
                    }
                }
            }
        }
    }
}
