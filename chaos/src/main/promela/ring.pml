/*
 * The ring of tables: claim, crash, redelivery, emptying of a slot, and switching from one table to the ring.
 *
 * One id, which carries its time, is delivered again and again to two instances. Its row may be in the table or in its
 * slot. An instance is restarted at any point, also in the midst of a transaction, with or without the ring. A cleanup
 * empties the slot; an operator takes the steps of the switch. Until the id has expired, it must be applied once.
 *
 *     spin -run ring.pml                   no errors
 *     spin -run -DNO_RECHECK ring.pml      the slot is not looked at again under the lock: applied twice
 *     spin -run -DONE_STEP ring.pml        the table becomes a ring at once: applied twice
 *     spin -run -DNO_GUARD ring.pml        instances without the ring may still insert into the table: applied twice
 */

#define INSTANCES 2
#define DELIVERIES 2

/* A row: nobody's, of an open transaction (its instance), or committed. */
#define FREE 9
#define COMMITTED 8

mtype = { missing, both, drain, ring };          /* state of the control row */
mtype = { plain, switching, draining, complete }; /* what an instance does, as it saw the state when it started; one that
                                                     switches goes on as if it started when it sees another state */

mtype state = missing;
byte table = FREE;
byte slot = FREE;
byte slot_users = 0;      /* transactions that hold the slot's table lock as claims do */
byte step_readers = 0;    /* transactions that hold a share lock on the control row */
byte table_users = 0;     /* transactions that hold the table's lock as claims do */
bool slot_locked = false; /* by the one that empties it */
bool expired = false;
byte applied = 0;

/* How a transaction has ended: both rows, the effect and the locks, together. */
inline end(commit) {
    d_step {
        if
        :: table == _pid -> table = (commit -> COMMITTED : FREE)
        :: else
        fi;
        if
        :: slot == _pid -> slot = (commit -> COMMITTED : FREE)
        :: else
        fi;
        slot_users = slot_users - uses_slot;
        table_users = table_users - uses_table;
        step_readers = step_readers - reads_step;
        uses_slot = 0;
        uses_table = 0;
        reads_step = 0;
        if
        :: commit && free && !expired -> applied++
        :: else
        fi
    }
    assert(applied <= 1)
}

/* insert into the table ... on conflict do nothing, with its trigger. */
inline insert_into_table() {
    atomic {
        table_users = table_users + (1 - uses_table);
        uses_table = 1;
        if
#ifndef NO_GUARD
        :: state == drain || state == ring -> refused = true
#endif
        :: state == both -> step_readers = step_readers + (1 - reads_step); reads_step = 1
        :: else
        fi
    }
    if
    :: refused -> free = false
    :: else ->
        atomic { (table == FREE || table == COMMITTED) ->
            if
            :: table == FREE -> table = _pid
            :: else -> free = false
            fi
        }
    fi
}

/* insert into the slot ... on conflict do nothing; the lock of its table comes first. */
inline insert_into_slot(unless_in_table) {
    atomic { !slot_locked -> slot_users = slot_users + (1 - uses_slot); uses_slot = 1 }
    /* Two statements: what the table has is seen now, and the slot's row is waited for afterwards. */
    if
    :: unless_in_table && table == COMMITTED -> free = false
    :: else ->
        atomic { (slot == FREE || slot == COMMITTED) ->
            if
            :: slot == FREE -> slot = _pid
            :: else -> free = false
            fi
        }
    fi
}

active [INSTANCES] proctype instance() {
    mtype mode;
    byte deliveries = 0;
    byte uses_slot = 0;
    byte uses_table = 0;
    byte reads_step = 0;
    bool free;
    bool refused;
    mtype seen;

start:
    /* With the ring, the first one makes the control row, under a lock that waits for claims in the table. */
    if
    :: atomic { state == missing || state == both -> mode = plain }
    :: atomic { state == missing && table_users == 0 ->
#ifdef ONE_STEP
            state = ring;
#else
            state = (table == FREE -> ring : both);
#endif
            mode = (state == ring -> complete : switching)
        }
    :: atomic { state == both -> mode = switching }
    :: atomic { state == drain -> mode = draining }
    :: atomic { state == ring -> mode = complete }
    fi;

    do
    :: deliveries == DELIVERIES -> break
    :: deliveries < DELIVERIES ->
        deliveries++;
        free = true;
        refused = false;
        if
        :: mode == plain -> insert_into_table()
        :: mode == switching ->
            seen = state;
            if
            :: seen == both -> insert_into_table()
            :: else -> insert_into_slot(seen != ring)
            fi
        :: mode == draining -> insert_into_slot(true)
        :: mode == complete -> insert_into_slot(false)
        fi;
        if
        :: !refused -> end(true)
        :: end(false)                  /* the listener fails: redelivered */
        :: end(false); goto start      /* the process is killed: redelivered after the restart */
        fi
    :: goto start
    od
}

/* Empties the slot: look, lock, look again, truncate; or gives up, or crashes, which undoes it. */
active proctype cleanup() {
    bool due;
    byte turns = 0;

    do
    :: turns == 1 -> break
    :: turns < 1 ->
        turns++;
        due = !(slot == COMMITTED && !expired);
        if
        :: due ->
            if
            :: atomic { slot_users == 0 && !slot_locked -> slot_locked = true };
#ifndef NO_RECHECK
                due = !(slot == COMMITTED && !expired);
#endif
                if
                :: due -> d_step { slot = FREE; slot_locked = false }
                :: slot_locked = false
                fi
            :: true                    /* lock_timeout */
            fi
        :: else
        fi
    :: d_step { expired && table == COMMITTED -> table = FREE }
    od
}

/* The steps of the switch. The update waits for share locks; the last step needs a table without such ids. */
active proctype operator() {
    if
    :: atomic { state == both && step_readers == 0 -> state = drain };
        if
        :: atomic { state == drain && table == FREE -> state = ring }
        :: true
        fi
    :: true
    fi
}

active proctype clock() {
    if
    :: expired = true
    :: true
    fi
}
