package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminDoors;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.admin.Fields;
import dev.ratelimit.grpc.v1.ConfigurePolicyRequest;
import dev.ratelimit.grpc.v1.GetPolicyRequest;
import dev.ratelimit.grpc.v1.GetUsageRequest;
import dev.ratelimit.grpc.v1.ResetUsageRequest;

/**
 * The operations of administrators over gRPC. The operations themselves check roles and
 * write the audit trail, as for the actuator endpoint. They run on an executor, because
 * they may wait.
 */
final class AdminCalls {

	private final Supplier<AdminOperations> operations;

	private final AdminDoors doors;

	private final BooleanSupplier callersKnown;

	private final CallerTokens tokens;

	private final Executor executor;

	/**
	 * Creates it.
	 * @param operations looked up by each call: an application that offers none needs
	 * none
	 * @param callersKnown whether Spring Security says who calls; without it nobody may
	 * change anything over gRPC
	 */
	AdminCalls(Supplier<AdminOperations> operations, AdminDoors doors, BooleanSupplier callersKnown,
			CallerTokens tokens, Executor executor) {
		this.operations = operations;
		this.doors = doors;
		this.callersKnown = callersKnown;
		this.tokens = tokens;
		this.executor = executor;
	}

	CompletableFuture<Map<String, Object>> usage(GetUsageRequest message, CurrentCall call) {
		Fields query = Fields.ofQuery(
				caller(message.getPolicy(), message.getLimit(), message.getTier(), message.getDimensionsMap()), null);
		return read(call, (principal) -> this.operations.get().usage().show(query, principal));
	}

	CompletableFuture<Map<String, Object>> reset(ResetUsageRequest message, CurrentCall call) {
		Map<String, Object> caller = caller(message.getPolicy(), message.getLimit(), message.getTier(),
				message.getDimensionsMap());
		put(caller, "reason", message.getReason());
		return write(call, (principal) -> this.operations.get().usage().reset(Fields.ofQuery(caller, null), principal));
	}

	CompletableFuture<List<Map<String, Object>>> policies(CurrentCall call) {
		return read(call, (principal) -> CompletableFuture
			.completedStage(this.operations.get().policies().list(Fields.ofQuery(Map.of(), null), principal)));
	}

	CompletableFuture<Map<String, Object>> policy(GetPolicyRequest message, CurrentCall call) {
		Map<String, Object> query = message.hasVersion() ? Map.of("version", Long.toString(message.getVersion()))
				: Map.of();
		return read(call,
				(principal) -> this.operations.get()
					.policies()
					.show(message.getId(), Fields.ofQuery(query, null), principal));
	}

	CompletableFuture<Map<String, Object>> configure(ConfigurePolicyRequest message, CurrentCall call) {
		Map<String, Object> fields = new LinkedHashMap<>();
		put(fields, "reason", message.getReason());
		if (message.hasExpect()) {
			fields.put("expect", message.getExpect());
		}
		if (message.getForce()) {
			fields.put("force", true);
		}
		if (message.getDelete()) {
			return write(call,
					(principal) -> this.operations.get()
						.policies()
						.delete(message.getId(), Fields.ofBody(fields, null), principal));
		}
		if (message.hasPolicy()) {
			fields.put("policy", Structs.toMap(message.getPolicy()));
		}
		if (message.hasRollback()) {
			fields.put("rollback", message.getRollback());
		}
		put(fields, "rollout", message.getRollout());
		return write(call,
				(principal) -> this.operations.get()
					.policies()
					.write(message.getId(), Fields.ofBody(fields, null), principal));
	}

	private static Map<String, Object> caller(String policy, String limit, String tier,
			Map<String, String> dimensions) {
		Map<String, Object> query = new LinkedHashMap<>(dimensions);
		put(query, "policy", policy);
		put(query, "limit", limit);
		put(query, "tier", tier);
		return query;
	}

	/** A text that is not set is a field that is not there. */
	private static void put(Map<String, Object> fields, String name, String value) {
		fields.remove(name);
		if (!value.isEmpty()) {
			fields.put(name, value);
		}
	}

	private <T> CompletableFuture<T> read(CurrentCall call,
			Function<@Nullable Principal, CompletionStage<T>> operation) {
		return this.doors.reads() ? run(call, operation)
				: CompletableFuture.failedFuture(closed("none, so that nothing is offered"));
	}

	private <T> CompletableFuture<T> write(CurrentCall call,
			Function<@Nullable Principal, CompletionStage<T>> operation) {
		if (!this.doors.writes()) {
			return CompletableFuture.failedFuture(closed("not unrestricted, so that nothing can be changed"));
		}
		if (!this.callersKnown.getAsBoolean()) {
			return CompletableFuture.failedFuture(Statuses
				.permissionDenied("Changes over gRPC need Spring Security, which this application does not have"));
		}
		return run(call, operation);
	}

	private static StatusException closed(String why) {
		return Statuses.permissionDenied("management.endpoint.ratelimit.access is " + why);
	}

	private <T> CompletableFuture<T> run(CurrentCall call,
			Function<@Nullable Principal, CompletionStage<T>> operation) {
		return this.tokens.principal(call.metadata()).thenCompose((principal) -> {
			try {
				return CompletableFuture.supplyAsync(() -> operation.apply(principal), this.executor)
					.thenCompose(Function.identity());
			}
			catch (RejectedExecutionException ex) {
				return CompletableFuture.failedFuture(Statuses.busy());
			}
		});
	}

}
