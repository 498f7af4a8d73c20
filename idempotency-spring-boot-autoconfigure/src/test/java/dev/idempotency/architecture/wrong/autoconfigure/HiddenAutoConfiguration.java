package dev.idempotency.architecture.wrong.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;

/** Breaks the rule that auto-configurations are public. */
@AutoConfiguration
final class HiddenAutoConfiguration {}
