package dev.idempotency.architecture.wrong.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;

/** Breaks the rule that auto-configurations are final. */
@AutoConfiguration
public class OpenAutoConfiguration {}
