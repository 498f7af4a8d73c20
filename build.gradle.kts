plugins {
    alias(libs.plugins.cyclonedx) apply false
    alias(libs.plugins.kotlin.jvm) apply false
    alias(libs.plugins.spotless) apply false
    alias(libs.plugins.spring.boot) apply false
}

subprojects {
    group = "dev.idempotency"
    version = "0.1.0-SNAPSHOT"
}

project(":idempotency-bom") { apply(plugin = "java-platform") }

// All the others have code.
configure(subprojects.filter { it.name != "idempotency-bom" }) {
    apply(plugin = "java-library")
    apply(plugin = "com.diffplug.spotless")

    // What a user may not have: there to compile and to test with, never passed on.
    val optional = configurations.create("optional")
    configurations.named("compileOnly") { extendsFrom(optional) }
    configurations.named("testImplementation") { extendsFrom(optional) }

    dependencies {
        "implementation"(platform(rootProject.libs.spring.boot.dependencies))
        "testImplementation"(platform(rootProject.libs.embedded.postgres.binaries.bom))
        "optional"(platform(rootProject.libs.spring.boot.dependencies))
        "annotationProcessor"(platform(rootProject.libs.spring.boot.dependencies))
        "testRuntimeOnly"(rootProject.libs.junit.platform.launcher)
    }

    tasks.withType<JavaCompile>().configureEach {
        options.release.set(17)
        options.encoding = "UTF-8"
        options.compilerArgs.addAll(listOf("-parameters", "-Xlint:all,-processing,-classfile,-options", "-Werror"))
    }

    // Two JVMs for a module's tests, each of which shares one PostgreSQL and one Kafka broker among its own: they wait for
    // servers more than they compute. Few live long enough for the second compiler to pay.
    tasks.withType<Test>().configureEach {
        // With -Pslow, those too that take long: fuzz, server restarts, long pauses, chaos.
        useJUnitPlatform { if (!project.hasProperty("slow")) excludeTags("slow") }
        maxParallelForks = 2
        jvmArgs("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+EnableDynamicAgentLoading")
        include("**/*Tests.class", "**/*IT.class")
    }

    // The same sources make the same jars, byte for byte.
    tasks.withType<AbstractArchiveTask>().configureEach {
        isPreserveFileTimestamps = false
        isReproducibleFileOrder = true
        filePermissions { unix("rw-r--r--") }
        dirPermissions { unix("rwxr-xr-x") }
    }
    tasks.withType<Javadoc>().configureEach {
        (options as StandardJavadocDocletOptions).apply {
            noTimestamp(true)
            addBooleanOption("Xdoclint:all,-missing", true)
            addBooleanOption("Werror", true)
        }
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

// What goes to Maven Central.
configure(listOf(project(":idempotency-bom"), project(":idempotency-core"), project(":idempotency-kafka"), project(":idempotency-operators"), project(":idempotency-spring-boot-autoconfigure"), project(":idempotency-spring-boot-starter"), project(":idempotency-spring-boot-test"))) {
    apply(plugin = "maven-publish")

    configure<PublishingExtension> {
        publications {
            create<MavenPublication>("library") {
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
        repositories {
            maven {
                name = "staging"
                url = uri(rootProject.layout.buildDirectory.dir("staging"))
            }
        }
    }

    // Signed where a key is given; RELEASING.md says how.
    val signingKey = providers.gradleProperty("signingKey").orNull
    if (signingKey != null) {
        apply(plugin = "signing")
        configure<SigningExtension> {
            useInMemoryPgpKeys(signingKey, providers.gradleProperty("signingPassword").orNull)
            sign(the<PublishingExtension>().publications)
        }
    }
}

project(":idempotency-bom") {
    configure<PublishingExtension> {
        publications.named<MavenPublication>("library") { from(components["javaPlatform"]) }
    }
}

// What goes to Maven Central as jars.
configure(listOf(project(":idempotency-core"), project(":idempotency-kafka"), project(":idempotency-operators"), project(":idempotency-spring-boot-autoconfigure"), project(":idempotency-spring-boot-starter"), project(":idempotency-spring-boot-test"))) {
    apply(plugin = "org.cyclonedx.bom")

    configure<JavaPluginExtension> {
        withSourcesJar()
        withJavadocJar()
    }

    configure<PublishingExtension> {
        publications.named<MavenPublication>("library") {
            from(components["java"])
            versionMapping { allVariants { fromResolutionResult() } }
            artifact(layout.buildDirectory.file("reports/cyclonedx-direct/bom.json")) {
                classifier = "cyclonedx"
                extension = "json"
                builtBy(tasks.named("cyclonedxDirectBom"))
            }
        }
    }

    tasks.withType<org.cyclonedx.gradle.CyclonedxDirectTask>().configureEach {
        includeConfigs.set(listOf("runtimeClasspath"))
    }
}
