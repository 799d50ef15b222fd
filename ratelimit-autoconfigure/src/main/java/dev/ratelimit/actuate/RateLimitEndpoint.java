package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ServerWebInputException;

/**
 * The admin API. A controller, because an operation of an ordinary endpoint takes flat
 * strings only; Boot keeps the annotation for such cases but has deprecated it, which is
 * why the warning is off in this one class. With read-only access Boot leaves out all
 * that is not a GET.
 */
@SuppressWarnings("removal")
@org.springframework.boot.actuate.endpoint.web.annotation.RestControllerEndpoint(id = "ratelimit",
		defaultAccess = Access.READ_ONLY)
public class RateLimitEndpoint {

	private static final String EXAMPLES = "For the switch: " + SwitchRequest.EXAMPLE + " For a hot key: "
			+ HotKeyRequest.EXAMPLE;

	private final Overview overview;

	private final SwitchAdmin redSwitch;

	private final HotKeyAdmin hotKeys;

	public RateLimitEndpoint(Overview overview, SwitchAdmin redSwitch, HotKeyAdmin hotKeys) {
		this.overview = overview;
		this.redSwitch = redSwitch;
		this.hotKeys = hotKeys;
	}

	@GetMapping("/")
	public Map<String, Object> overview() {
		return this.overview.all(this.redSwitch.show());
	}

	@GetMapping("/policies")
	public List<Map<String, Object>> policies() {
		return this.overview.policies();
	}

	@GetMapping("/policies/{id}")
	public ResponseEntity<Map<String, Object>> policy(@PathVariable String id) {
		Map<String, Object> policy = this.overview.policy(id);
		return (policy != null) ? ResponseEntity.ok(policy) : new ResponseEntity<>(HttpStatus.NOT_FOUND);
	}

	@GetMapping("/switch")
	public Map<String, Object> showSwitch() {
		return this.redSwitch.show();
	}

	@PostMapping("/switch")
	public CompletionStage<ResponseEntity<Map<String, Object>>> turnSwitchOn(
			@RequestBody(required = false) @Nullable Map<String, Object> body, @Nullable Principal principal) {
		return response(this.redSwitch.turnOn(body, principal));
	}

	@DeleteMapping("/switch")
	public CompletionStage<ResponseEntity<Map<String, Object>>> turnSwitchOff(@Nullable Principal principal) {
		return response(this.redSwitch.turnOff(principal));
	}

	@GetMapping("/hotkeys")
	public List<Map<String, Object>> hotKeys() {
		return this.hotKeys.show();
	}

	@PostMapping("/hotkeys")
	public CompletionStage<ResponseEntity<Map<String, Object>>> markHotKey(
			@RequestBody(required = false) @Nullable Map<String, Object> body, @Nullable Principal principal) {
		return response(this.hotKeys.mark(body, principal));
	}

	@DeleteMapping("/hotkeys")
	public CompletionStage<ResponseEntity<Map<String, Object>>> unmarkHotKey(
			@RequestParam Map<String, String> selectors, @Nullable Principal principal) {
		return response(this.hotKeys.unmark(Map.copyOf(selectors), principal));
	}

	@ExceptionHandler({ HttpMessageNotReadableException.class, ServerWebInputException.class })
	ResponseEntity<Map<String, Object>> unreadable() {
		return AdminProblem.unreadable(EXAMPLES).response();
	}

	private static CompletionStage<ResponseEntity<Map<String, Object>>> response(
			CompletionStage<Map<String, Object>> answer) {
		return answer.thenApply(ResponseEntity::ok).exceptionally((failure) -> {
			Throwable cause = (failure instanceof CompletionException && failure.getCause() != null)
					? failure.getCause() : failure;
			if (cause instanceof AdminProblem problem) {
				return problem.response();
			}
			throw new CompletionException(cause);
		});
	}

}
