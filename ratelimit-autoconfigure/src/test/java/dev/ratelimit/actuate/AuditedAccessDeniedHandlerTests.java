package dev.ratelimit.actuate;

import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.web.server.authorization.HttpStatusServerAccessDeniedHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.RecordedAudit;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

class AuditedAccessDeniedHandlerTests {

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	private Instant now = Instant.parse("2026-01-01T00:00:30Z");

	private final RecordedAudit recorded = new RecordedAudit(new SetClock());

	private final Audit audit = this.recorded.audit();

	private final AuditedAccessDeniedHandler handler = new AuditedAccessDeniedHandler(
			new DeniedAttempts(new AdminPaths("/actuator/ratelimit"), this.audit),
			new HttpStatusServerAccessDeniedHandler(HttpStatus.FORBIDDEN));

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void changeThatWasTurnedAwayIsInTheTrailWithoutTheCallersValue() {
		deny("POST", "/actuator/ratelimit/switch", "bob");
		deny("PUT", "/actuator/ratelimit/tiers/tenant/acme", "bob");
		assertThat(entries()).extracting("action", "outcome", "actor", "target")
			.containsExactly(tuple("denied-by-security", "refused", "bob", "PUT tiers"),
					tuple("denied-by-security", "refused", "bob", "POST switch"));
	}

	@ParameterizedTest
	@CsvSource({ "GET, /actuator/health", "POST, /actuator/loggers/root", "POST, /actuator/ratelimited" })
	void whatChangesNoLimitIsNotInTheTrail(String method, String path) {
		deny(method, path, "bob");
		assertThat(entries()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/ratelimit/lists/deny", "/actuator/%72atelimit/lists/deny",
			"/actuator;x=1/ratelimit//lists/deny", "/actuator/x/../ratelimit/lists%2Fdeny" })
	void lookThatWasTurnedAwayIsInTheTrailHoweverThePathIsSpelt(String path) {
		deny("GET", path, "bob");
		assertThat(entries()).extracting("action", "outcome", "actor").containsExactly(tuple("read", "refused", "bob"));
	}

	@Test
	void looksAndTenantsDoNotUseUpTheRoomOfOperatorsNorFillTheLog() {
		for (int i = 0; i < 150; i++) {
			deny("GET", "/actuator/ratelimit/lists/deny", "bob");
			this.audit.record(new Audit.Entry("tenant-limits", Audit.Outcome.INVALID, "tom", "", "", "", ""));
		}
		assertThat(this.log.lines()).hasSize(200);
		deny("POST", "/actuator/ratelimit/switch", "bob");
		assertThat(entries()).hasSize(201);
		assertThat(entries().get(0)).containsEntry("action", "denied-by-security");
	}

	@Test
	void strangersAreNotInTheTrail() {
		deny("POST", "/actuator/ratelimit/switch", null);
		assertThat(entries()).isEmpty();
		assertThat(this.log.lines()).isEmpty();
	}

	@Test
	void hundredAttemptsAMinuteAreInTheTrailAndAllInTheLog() {
		for (int i = 0; i < 150; i++) {
			deny("POST", "/actuator/ratelimit/switch", "bob");
		}
		assertThat(entries()).hasSize(100);
		assertThat(page()).containsEntry("lost", 50L);
		assertThat(this.log.lines()).hasSize(150);
	}

	@Test
	void everyMinuteHasRoomForAHundredMore() {
		for (int i = 0; i < 150; i++) {
			deny("POST", "/actuator/ratelimit/switch", "bob");
		}
		this.now = this.now.plus(Duration.ofMinutes(1));
		deny("DELETE", "/actuator/ratelimit/switch", "bob");
		assertThat(entries()).hasSize(101);
	}

	@Test
	void changesThatWereMadeAreKeptHoweverManyWereTurnedAway() {
		for (int i = 0; i < 150; i++) {
			deny("POST", "/actuator/ratelimit/switch", "bob");
		}
		this.audit.record(new Audit.Entry("switch-on", Audit.Outcome.DONE, "ann", "", "off", "allow", ""));
		assertThat(entries().get(0)).containsEntry("actor", "ann");
	}

	private void deny(String method, String path, String user) {
		ServerWebExchange exchange = MockServerWebExchange
			.from(MockServerHttpRequest.method(HttpMethod.valueOf(method), URI.create(path)));
		if (user != null) {
			exchange = exchange.mutate()
				.principal(Mono.just(UsernamePasswordAuthenticationToken.authenticated(user, null, List.of())))
				.build();
		}
		this.handler.handle(exchange, new AccessDeniedException("no")).block(Duration.ofSeconds(5));
		assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.FORBIDDEN);
	}

	@SuppressWarnings("unchecked")
	private List<Map<String, Object>> entries() {
		return (List<Map<String, Object>>) page().get("entries");
	}

	private Map<String, Object> page() {
		return this.recorded.page();
	}

	/** Stands still until it is set. */
	private final class SetClock extends Clock {

		@Override
		public Instant instant() {
			return AuditedAccessDeniedHandlerTests.this.now;
		}

		@Override
		public ZoneOffset getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

}
