package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.json.JsonObject;

/**
 * Shows the big red switch and turns it on and off.
 */
public final class SwitchAdmin {

	private static final String EXAMPLE = "Send something like {\"mode\": \"allow\", \"for\": \"1h\", \"reason\": \"…\"}.";

	private final ModeSwitch modeSwitch;

	private final AdminAccess access;

	private final Clock clock;

	SwitchAdmin(ModeSwitch modeSwitch, AdminAccess access, Clock clock) {
		this.modeSwitch = modeSwitch;
		this.access = access;
		this.clock = clock;
	}

	/**
	 * The state of the switch on this instance.
	 */
	public Map<String, Object> show(Fields query, @Nullable Principal principal) {
		this.access.read("switch", principal, query);
		return state();
	}

	/** Includes a call that has no effect because a property overrides it. */
	Map<String, Object> state() {
		FailureMode property = this.modeSwitch.property();
		ForcedMode forced = this.modeSwitch.forced();
		JsonObject shown = new JsonObject().with("on", property != null || forced != null);
		if (property != null) {
			return shown.with("mode", property.text())
				.with("from", "property")
				.with("call", (forced != null) ? describe(forced) : null);
		}
		return (forced == null) ? shown
				: shown.with("mode", forced.mode().text()).with("from", "call").withAll(describe(forced));
	}

	public CompletionStage<Map<String, Object>> turnOn(Fields body, @Nullable Principal principal) {
		return attempt("switch-on", body, principal,
				() -> this.modeSwitch.turnOn(wanted(body, AdminAccess.actor(principal))));
	}

	public CompletionStage<Map<String, Object>> turnOff(Fields query, @Nullable Principal principal) {
		return attempt("switch-off", query, principal, () -> {
			query.only("reason");
			return this.modeSwitch.turnOff();
		});
	}

	static ForcedMode wanted(Fields body, String actor) {
		body.only(EXAMPLE, List.of("mode", "for", "reason"));
		return new ForcedMode(body.choice("mode", FailureMode.class, null),
				body.duration("for", ForcedMode.USUAL, Duration.ofSeconds(1), ForcedMode.LONGEST), actor,
				body.reason());
	}

	private CompletionStage<Map<String, Object>> attempt(String action, Fields fields, @Nullable Principal principal,
			Supplier<CompletionStage<Void>> change) {
		String before = text();
		return this.access.attempt(action, "", fields, principal, before,
				() -> change.get().thenApply((done) -> new AdminAccess.Result(before, text(), state())));
	}

	private Map<String, Object> describe(ForcedMode forced) {
		return new JsonObject().with("mode", forced.mode().text())
			.with("until", until(forced))
			.with("actor", forced.actor())
			.with("reason", forced.reason());
	}

	private String text() {
		ForcedMode forced = this.modeSwitch.forced();
		return (forced != null) ? forced.mode().text() + " until " + until(forced) : "off";
	}

	private String until(ForcedMode forced) {
		return this.clock.instant().plus(forced.left()).truncatedTo(ChronoUnit.SECONDS).toString();
	}

}
