package dev.ratelimit.actuate;

import java.security.Principal;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.limiter.SwitchNotWrittenException;

/**
 * Looks at the big red switch and turns it, for those who may, leaving a trail.
 */
public final class SwitchAdmin {

	private final RedSwitch redSwitch;

	private final AdminChanges changes;

	private final Clock clock;

	public SwitchAdmin(RedSwitch redSwitch, AdminCheck check, Audit audit, Clock clock) {
		this.redSwitch = redSwitch;
		this.changes = new AdminChanges(check, audit);
		this.clock = clock;
	}

	/**
	 * What holds on this instance. A call that a property stands before is told too.
	 */
	Map<String, Object> show() {
		FailureMode property = this.redSwitch.property();
		ForcedMode forced = this.redSwitch.forced();
		Map<String, Object> shown = new LinkedHashMap<>();
		shown.put("on", property != null || forced != null);
		if (property != null) {
			shown.put("mode", SwitchRequest.text(property));
			shown.put("from", "property");
			if (forced != null) {
				shown.put("call", describe(forced));
			}
		}
		else if (forced != null) {
			shown.put("mode", SwitchRequest.text(forced.mode()));
			shown.put("from", "call");
			shown.putAll(describe(forced));
		}
		return shown;
	}

	/**
	 * Turns it on. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> turnOn(AdminBody body, @Nullable Principal principal) {
		return attempt("switch-on", body.reason(), principal,
				() -> this.redSwitch.turnOn(SwitchRequest.parse(body, AdminChanges.actor(principal))));
	}

	/**
	 * Turns it off. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> turnOff(Map<String, String> parameters, @Nullable Principal principal) {
		return attempt("switch-off", AdminQuery.reason(parameters), principal, () -> {
			AdminQuery.of(parameters, "reason");
			return this.redSwitch.turnOff();
		});
	}

	private CompletionStage<Map<String, Object>> attempt(String action, String reason, @Nullable Principal principal,
			Supplier<CompletionStage<Void>> change) {
		String before = text();
		return this.changes.attempt(action, reason, principal, before,
				() -> change.get()
					.exceptionallyCompose((failure) -> CompletableFuture.failedStage(problem(failure)))
					.thenApply((done) -> new AdminChanges.Result(before, text(), show())));
	}

	private static Throwable problem(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		return (cause instanceof SwitchNotWrittenException)
				? AdminProblem.unavailable(String.valueOf(cause.getMessage())) : cause;
	}

	private Map<String, Object> describe(ForcedMode forced) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("mode", SwitchRequest.text(forced.mode()));
		described.put("until", until(forced));
		described.put("actor", forced.actor());
		described.put("reason", forced.reason());
		return described;
	}

	private String text() {
		ForcedMode forced = this.redSwitch.forced();
		return (forced != null) ? SwitchRequest.text(forced.mode()) + " until " + until(forced) : "off";
	}

	private String until(ForcedMode forced) {
		return this.clock.instant().plus(forced.left()).truncatedTo(ChronoUnit.SECONDS).toString();
	}

}
