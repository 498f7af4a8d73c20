package dev.idempotency.starter;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class PaymentsApplication {}
