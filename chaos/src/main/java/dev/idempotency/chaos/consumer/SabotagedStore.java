package dev.idempotency.chaos.consumer;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A store with a common mistake: claims are committed separately, and stay when the work is rolled back. */
class SabotagedStore implements ProcessedMessageStore {

    static final String TABLE = """
            create table if not exists sabotaged (
                consumer varchar(200) not null,
                message_id varchar(300) not null,
                primary key (consumer, message_id)
            )
            """;

    private final JdbcTemplate jdbc;
    private final TransactionTemplate separately;

    SabotagedStore(JdbcTemplate jdbc, PlatformTransactionManager transactionManager) {
        this.jdbc = jdbc;
        this.separately = new TransactionTemplate(transactionManager);
        this.separately.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        Set<MessageId> claimed = new HashSet<>();
        this.separately.executeWithoutResult(status -> claims.stream()
                .map(Claim::id)
                .filter(id -> this.jdbc.update(
                                "insert into sabotaged values (?, ?) on conflict do nothing", id.consumer(), id.value())
                        == 1)
                .forEach(claimed::add));
        return claimed;
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return Map.of();
    }

    @Override
    public boolean forget(MessageId id) {
        return false;
    }
}
