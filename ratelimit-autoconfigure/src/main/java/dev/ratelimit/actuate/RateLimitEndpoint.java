package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.http.HttpEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;

import dev.ratelimit.admin.AdminController;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.RecordPath;

/**
 * The admin API as an actuator endpoint. A controller, because an operation of an
 * ordinary endpoint takes flat strings only. Boot has deprecated the annotation for such
 * endpoints, so this class suppresses the warning. With read-only access, Boot only maps
 * GET.
 */
@SuppressWarnings("removal")
@org.springframework.boot.actuate.endpoint.web.annotation.RestControllerEndpoint(id = "ratelimit",
		defaultAccess = Access.READ_ONLY)
class RateLimitEndpoint extends AdminController {

	private static final String OVERRIDE = "/overrides/{policy}/{dimension}/{value}";

	private static final String TIER = "/tiers/{dimension}/{value}";

	private final AdminOperations operations;

	RateLimitEndpoint(AdminOperations operations, Audit audit) {
		super(audit, "");
		this.operations = operations;
	}

	@GetMapping("/")
	public Map<String, Object> overview(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.overview().show(query(query), principal);
	}

	@GetMapping("/policies")
	public List<Map<String, Object>> policies(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.policies().list(query(query), principal);
	}

	@GetMapping("/policies/{id}")
	public CompletionStage<Map<String, Object>> policy(@PathVariable String id,
			@RequestParam MultiValueMap<String, String> query, @Nullable Principal principal) {
		return this.operations.policies().show(id, query(query), principal);
	}

	@PostMapping("/policies/{id}")
	public CompletionStage<Map<String, Object>> writePolicy(@PathVariable String id,
			@RequestParam MultiValueMap<String, String> query, HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.policies().write(id, body(query, body), principal);
	}

	@DeleteMapping("/policies/{id}")
	public CompletionStage<Map<String, Object>> deletePolicy(@PathVariable String id,
			@RequestParam MultiValueMap<String, String> query, @Nullable Principal principal) {
		return this.operations.policies().delete(id, query(query), principal);
	}

	@GetMapping({ OVERRIDE, TIER })
	public Map<String, Object> record(@PathVariable Map<String, String> path,
			@RequestParam MultiValueMap<String, String> query, @Nullable Principal principal) {
		return this.operations.records().show(RecordPath.of(path), query(query), principal);
	}

	@PutMapping({ OVERRIDE, TIER })
	public CompletionStage<Map<String, Object>> putRecord(@PathVariable Map<String, String> path,
			@RequestParam MultiValueMap<String, String> query, HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.records().put(RecordPath.of(path), body(query, body), principal);
	}

	@DeleteMapping({ OVERRIDE, TIER })
	public CompletionStage<Map<String, Object>> deleteRecord(@PathVariable Map<String, String> path,
			@RequestParam MultiValueMap<String, String> query, @Nullable Principal principal) {
		return this.operations.records().delete(RecordPath.of(path), query(query), principal);
	}

	@GetMapping("/lists/{list}")
	public Map<String, Object> list(@PathVariable String list, @RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.records().list(list, query(query), principal);
	}

	@PutMapping("/lists/{list}")
	public CompletionStage<Map<String, Object>> putEntry(@PathVariable String list,
			@RequestParam MultiValueMap<String, String> query, HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.records().putEntry(list, body(query, body), principal);
	}

	@DeleteMapping("/lists/{list}")
	public CompletionStage<Map<String, Object>> deleteEntry(@PathVariable String list,
			@RequestParam MultiValueMap<String, String> query, @Nullable Principal principal) {
		return this.operations.records().deleteEntry(list, query(query), principal);
	}

	@PostMapping("/import")
	public CompletionStage<Map<String, Object>> importRecords(@RequestParam MultiValueMap<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.records().importPage(body(query, body), principal);
	}

	@PostMapping("/store")
	public CompletionStage<Map<String, Object>> recoverStore(@RequestParam MultiValueMap<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.records().recover(body(query, body), principal);
	}

	@GetMapping("/switch")
	public Map<String, Object> showSwitch(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.modeSwitch().show(query(query), principal);
	}

	@PostMapping("/switch")
	public CompletionStage<Map<String, Object>> turnSwitchOn(@RequestParam MultiValueMap<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.modeSwitch().turnOn(body(query, body), principal);
	}

	@DeleteMapping("/switch")
	public CompletionStage<Map<String, Object>> turnSwitchOff(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.modeSwitch().turnOff(query(query), principal);
	}

	@GetMapping("/hotkeys")
	public List<Map<String, Object>> hotKeys(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.hotKeys().show(query(query), principal);
	}

	@PostMapping("/hotkeys")
	public CompletionStage<Map<String, Object>> markHotKey(@RequestParam MultiValueMap<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.operations.hotKeys().mark(body(query, body), principal);
	}

	@DeleteMapping("/hotkeys")
	public CompletionStage<Map<String, Object>> unmarkHotKey(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.hotKeys().unmark(query(query), principal);
	}

	@GetMapping("/bans")
	public List<Map<String, Object>> bans(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.bans().show(query(query), principal);
	}

	@DeleteMapping("/bans")
	public CompletionStage<Map<String, Object>> liftBan(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.bans().lift(query(query), principal);
	}

	@GetMapping("/usage")
	public CompletionStage<Map<String, Object>> usage(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.usage().show(query(query), principal);
	}

	@DeleteMapping("/usage")
	public CompletionStage<Map<String, Object>> resetUsage(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.usage().reset(query(query), principal);
	}

	@GetMapping("/refusals")
	public CompletionStage<Map<String, Object>> refusals(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.refusals().show(query(query), principal);
	}

	@GetMapping("/audit")
	public CompletionStage<Map<String, Object>> audit(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.operations.audit().show(query(query), principal);
	}

}
