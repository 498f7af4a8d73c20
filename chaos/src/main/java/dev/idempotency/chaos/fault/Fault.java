package dev.idempotency.chaos.fault;

import dev.idempotency.chaos.consumer.ConsumerApplication;
import java.time.Duration;
import java.util.Collection;
import java.util.Random;

/** A fault that is injected and then repaired. */
public enum Fault {

    /** A consumer is killed, like by {@code kill -9}, and restarted. */
    KILL(8, "consumer killed (`kill -9`)") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) {
            victim.kill();
            victim.start();
        }
    },

    /** A consumer is stopped in an orderly way and restarted, as in a deployment. */
    RESTART(3, "consumer stopped and started") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            victim.stop();
            victim.start();
        }
    },

    /** A consumer is suspended for longer than its group waits, and resumes as a zombie with open transactions. */
    ZOMBIE(2, "consumer suspended beyond `max.poll.interval.ms`, then continued") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            victim.suspend();
            Thread.sleep(Duration.ofSeconds(ConsumerApplication.MAX_POLL_INTERVAL_SECONDS + 1L)
                    .toMillis());
            victim.resume();
        }
    },

    /** A consumer is suspended for a moment. */
    PAUSE(6, "consumer suspended for a moment") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            victim.suspend();
            Thread.sleep(500L + random.nextInt(1_500));
            victim.resume();
        }
    },

    /** The database terminates about half of its sessions. */
    TERMINATE_BACKENDS(20, "database sessions terminated") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) {
            servers.jdbc()
                    .queryForList(
                            "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'consumer-%' and random() < 0.5");
        }
    },

    /** The database is stopped without a checkpoint, and restarted. */
    DATABASE_CRASH(2, "PostgreSQL stopped hard and started") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            servers.postgres().stopImmediately();
            Thread.sleep(random.nextInt(2_000));
            servers.postgres().startAgain();
        }
    },

    /** The broker is killed and restarted. */
    BROKER_CRASH(1, "broker killed and started") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            servers.broker().kill();
            Thread.sleep(random.nextInt(2_000));
            servers.broker().startAgain();
        }
    },

    /** All connections to the database are cut. */
    CUT_DATABASE(16, "connections to the database cut") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            cut(servers.databaseProxy(), random);
        }
    },

    /** All connections to the broker are cut. */
    CUT_BROKER(10, "connections to the broker cut") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            cut(servers.brokerProxy(), random);
        }
    },

    /** All traffic to and from the database is delayed. */
    SLOW_DATABASE(8, "connections to the database slowed down") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            slowDown(servers.databaseProxy(), random);
        }
    },

    /** All traffic to and from the broker is delayed. */
    SLOW_BROKER(8, "connections to the broker slowed down") {

        @Override
        void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException {
            slowDown(servers.brokerProxy(), random);
        }
    };

    private final int weight;
    private final String description;

    Fault(int weight, String description) {
        this.weight = weight;
        this.description = description;
    }

    public String description() {
        return this.description;
    }

    /** Injects the fault, and returns when it is over; consumers may still be recovering. */
    abstract void inject(Servers servers, ConsumerProcess victim, Random random) throws InterruptedException;

    /** Picks a random fault; quick faults are more likely than slow ones. */
    static Fault pick(Collection<Fault> kinds, Random random) {
        int chosen =
                random.nextInt(kinds.stream().mapToInt(fault -> fault.weight).sum());
        for (Fault fault : kinds) {
            chosen -= fault.weight;
            if (chosen < 0) {
                return fault;
            }
        }
        throw new IllegalStateException("None of " + kinds);
    }

    private static void cut(TcpProxy proxy, Random random) throws InterruptedException {
        proxy.cut();
        Thread.sleep(random.nextInt(1_000));
        proxy.heal();
    }

    private static void slowDown(TcpProxy proxy, Random random) throws InterruptedException {
        proxy.slowDown(Duration.ofMillis(5L + random.nextInt(45)));
        Thread.sleep(500L + random.nextInt(1_500));
        proxy.heal();
    }
}
