package dev.ratelimit.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.redis.Connections;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.AuditChainContract;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(RedisServers.class)
class RedisAuditIntegrationTests extends AuditChainContract {

	private static final String TRAIL = "rl:{policies}:audit";

	/** A stream takes no entries before its last: all are written anew. */
	private static final String CHANGE = """
			local entries = redis.call('XRANGE', KEYS[1], '-', '+')
			redis.call('DEL', KEYS[1])
			for _, entry in ipairs(entries) do
			  for i = 1, #entry[2], 2 do
			    if entry[1] == ARGV[1] and entry[2][i] == 'reason' then
			      entry[2][i + 1] = ARGV[2]
			    end
			  end
			  redis.call('XADD', KEYS[1], entry[1], unpack(entry[2]))
			end""";

	private final List<AutoCloseable> open = new ArrayList<>();

	private final RedisServer server = RedisServers.standalone();

	@Override
	protected synchronized PolicyStore open() {
		RedisConnector connector = Connections.standaloneConnector();
		PolicyStore opened = store(connector);
		connector.start(Duration.ofSeconds(10));
		return opened;
	}

	private synchronized PolicyStore store(RedisConnector connector) {
		RedisSignals signals = RedisSignals.on(connector, "rl");
		RedisPolicyStore opened = new RedisPolicyStore(RedisSender.on(connector), signals,
				Connections.standaloneConnector(), "rl", "rl");
		this.open.addAll(List.of(opened, signals, connector));
		return opened;
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.open) {
			closeable.close();
		}
	}

	@Override
	protected void change(AuditPosition position, String reason) {
		this.server.cli("EVAL", CHANGE, "1", TRAIL, id(position), reason);
	}

	@Override
	protected void remove(AuditPosition... positions) {
		Stream.of(positions).forEach((position) -> this.server.cli("XDEL", TRAIL, id(position)));
	}

	@Override
	protected void addUnchained(String reason) {
		this.server.cli("EVAL", """
				local time = redis.call('TIME')
				local id = string.format('%.0f-0', time[1] * 1000000 + time[2])
				redis.call('XADD', KEYS[1], id, 'action', 'test', 'outcome', 'done', 'reason', ARGV[1])""", "1", TRAIL,
				reason);
	}

	@Override
	protected void forgetHead() {
		this.server.cli("DEL", "rl:{policies}:chain:rl");
	}

	@Test
	void attemptThatAFrozenRedisStillAddsIsNotAddedTwice() {
		add(0, 1);
		AuditRecord attempt = attempt("once");
		this.server.freeze();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(this.store.audit(attempt, null)));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(this.store.audit(attempt, null)));
		this.server.thaw();
		soon(attempt);
		add(1, 2);
		assertThat(entries()).extracting((entry) -> entry.attempt().reason())
			.containsExactly("reason 1", "once", "reason 0");
		assertThat(verify().broken()).isNull();
	}

	@Test
	void attemptThatAFrozenRedisAddsBeforeOthersIsFoundAmongThem() {
		add(0, 1);
		AuditRecord attempt = attempt("once");
		this.server.freeze();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(this.store.audit(attempt, null)));
		this.server.thaw();
		PolicyStore other = open();
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.ignoreExceptions()
			.until(() -> join(other.auditHead()).number() == 2);
		// More than one page
		for (int i = 0; i < 300; i++) {
			retried(other, attempt("other " + i));
		}
		soon(attempt);
		assertThat(join(this.store.auditHead()).number()).isEqualTo(302);
		assertThat(verify().broken()).isNull();
	}

	@Test
	void attemptWhoseConnectionWasCutIsAddedOnce() {
		add(0, 1);
		AuditRecord attempt = attempt("once");
		this.server.cli("CLIENT", "PAUSE", "60000", "WRITE");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(this.store.audit(attempt, null)));
		this.server.cli("CLIENT", "KILL", "TYPE", "normal");
		this.server.cli("CLIENT", "UNPAUSE");
		soon(attempt);
		assertThat(entries()).extracting((entry) -> entry.attempt().reason()).containsExactly("once", "reason 0");
	}

	@Test
	void firstAttemptOfAnInstanceWithoutAConnectionIsAddedOnce() {
		add(0, 1);
		RedisConnector connector = Connections.standaloneConnector();
		PolicyStore late = store(connector);
		AuditRecord attempt = attempt("once");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(late.audit(attempt, null)));
		connector.start(Duration.ofSeconds(10));
		addLongTrail();
		retried(late, attempt);
		retried(late, attempt("next"));
		assertThat(join(this.store.audit(null, 2))).extracting((entry) -> entry.attempt().reason())
			.containsExactly("next", "once");
		assertThat(join(this.store.auditHead()).number()).isEqualTo(3);
	}

	@Test
	void firstAttemptOfAnInstanceThatAFrozenRedisAnswersTooLateIsAddedOnce() {
		add(0, 1);
		addLongTrail();
		PolicyStore late = open();
		AuditRecord attempt = attempt("once");
		this.server.freeze();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(late.audit(attempt, null)));
		this.server.thaw();
		retried(late, attempt);
		assertThat(join(this.store.audit(null, 1))).extracting((entry) -> entry.attempt().reason())
			.containsExactly("once");
		assertThat(join(this.store.auditHead()).number()).isEqualTo(2);
	}

	/** More entries than are searched for one whose answer was lost. */
	private void addLongTrail() {
		this.server.cli("EVAL", """
				local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1]
				local time = tonumber(string.match(last, '^%d+'))
				for i = 1, 25100 do
				  redis.call('XADD', KEYS[1], string.format('%.0f-0', time + i), 'id', 'other', 'reason', 'other')
				end""", "1", TRAIL);
	}

	@Test
	void forgedEntryWithoutNumbersIsReadAndNamed() {
		add(0, 1);
		this.server.cli("XADD", TRAIL, "9000000000000000-0", "time", "x", "number", "-", "hash", "0", "reason",
				"forged");
		assertThat(entries()).hasSize(2);
		assertThat(verify().broken()).isNotNull();
	}

	private void soon(AuditRecord attempt) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.ignoreExceptions()
			.until(() -> this.store.audit(attempt, null).thenApply((done) -> true).toCompletableFuture().get());
	}

	private static String id(AuditPosition position) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, position.time()) + "-" + position.sequence();
	}

}
