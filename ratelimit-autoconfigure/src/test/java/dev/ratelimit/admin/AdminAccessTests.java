package dev.ratelimit.admin;

import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.ratelimit.store.StoreIncidentException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AdminAccessTests {

	private final RecordedAudit recorded = new RecordedAudit(Clock.systemUTC());

	private final AdminAccess access = new AdminAccess(AdminCheck.ANYBODY, this.recorded.audit());

	@Test
	void faultOfOursAfterAWriteIsNoConflict() {
		CompletionStage<AdminAccess.Result> written = CompletableFuture.completedStage("version 2")
			.thenApply((version) -> {
				throw new IllegalStateException("cannot describe it");
			});
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> attempt(written))
			.satisfies((failure) -> assertThat(failure.getCause()).isInstanceOf(IllegalStateException.class)
				.isNotInstanceOf(AdminProblem.class));
		assertThat(entries()).singleElement()
			.satisfies((entry) -> assertThat(entry).containsEntry("outcome", "failed"));
	}

	@Test
	void storeThatLostRecordsIsAConflict() {
		CompletionStage<AdminAccess.Result> refused = CompletableFuture
			.failedStage(new StoreIncidentException("Redis has lost a part of the records"));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> attempt(refused))
			.satisfies((failure) -> assertThat(((AdminProblem) failure.getCause()).response().getBody())
				.containsEntry("status", 409)
				.containsEntry("detail", "Redis has lost a part of the records")
				.containsKey("fix"));
		assertThat(entries()).singleElement()
			.satisfies((entry) -> assertThat(entry).containsEntry("outcome", "invalid"));
	}

	private Map<String, Object> attempt(CompletionStage<AdminAccess.Result> change) {
		return this.access.attempt("policy-write", "orders", Fields.ofBody(Map.of(), null), null, "", () -> change)
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join();
	}

	@SuppressWarnings("unchecked")
	private List<Map<String, Object>> entries() {
		return (List<Map<String, Object>>) this.recorded.page().get("entries");
	}

}
