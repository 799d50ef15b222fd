package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;

import dev.ratelimit.admin.AdminApi;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.AdminReaders;
import dev.ratelimit.admin.BodyTooLargeException;

/**
 * The admin API. A controller, because an operation of an ordinary endpoint takes flat
 * strings only; Boot keeps the annotation for such cases but has deprecated it, which is
 * why the warning is off in this one class. With read-only access Boot leaves out all
 * that is not a GET.
 */
@AdminApi
@SuppressWarnings("removal")
@org.springframework.boot.actuate.endpoint.web.annotation.RestControllerEndpoint(id = "ratelimit",
		defaultAccess = Access.READ_ONLY)
public class RateLimitEndpoint {

	private final AdminReaders readers;

	private final Overview overview;

	private final SwitchAdmin redSwitch;

	private final HotKeyAdmin hotKeys;

	private final UsageAdmin usage;

	private final AuditAdmin audit;

	private final PolicyAdmin policies;

	private final RecordAdmin records;

	private final RefusalAdmin refusals;

	public RateLimitEndpoint(AdminReaders readers, Overview overview, SwitchAdmin redSwitch, HotKeyAdmin hotKeys,
			UsageAdmin usage, AuditAdmin audit, PolicyAdmin policies, RecordAdmin records, RefusalAdmin refusals) {
		this.readers = readers;
		this.policies = policies;
		this.records = records;
		this.refusals = refusals;
		this.overview = overview;
		this.redSwitch = redSwitch;
		this.hotKeys = hotKeys;
		this.usage = usage;
		this.audit = audit;
	}

	@GetMapping("/")
	public Map<String, Object> overview(@RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("overview", query, principal);
		return this.overview.all(this.redSwitch.show());
	}

	@GetMapping("/policies")
	public List<Map<String, Object>> policies(@RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("policies", query, principal);
		return this.policies.list();
	}

	@GetMapping("/policies/{id}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> policy(@PathVariable String id,
			@RequestParam Map<String, String> query, @Nullable Principal principal) {
		Long version = look("policies", query, principal, "version").version("version");
		return response((version != null) ? this.policies.show(id, version) : this.policies.show(id));
	}

	@PostMapping("/policies/{id}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> writePolicy(@PathVariable String id,
			@RequestParam Map<String, String> query, HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.policies.write(id, AdminBody.of(query, body), principal));
	}

	@DeleteMapping("/policies/{id}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> deletePolicy(@PathVariable String id,
			@RequestParam Map<String, String> query, @Nullable Principal principal) {
		return response(this.policies.delete(id, query, principal));
	}

	@GetMapping("/overrides/{policy}/{dimension}/{value}")
	public ResponseEntity<Map<String, Object>> override(@PathVariable String policy, @PathVariable String dimension,
			@PathVariable String value, @RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("overrides", query, principal);
		return ResponseEntity.ok(this.records.show(() -> RecordRequest.override(policy, dimension, value)));
	}

	@PutMapping("/overrides/{policy}/{dimension}/{value}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> putOverride(@PathVariable String policy,
			@PathVariable String dimension, @PathVariable String value, @RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.records.put(() -> RecordRequest.override(policy, dimension, value), "limits",
				AdminBody.of(query, body),
				"Send something like {\"limits\": {\"per-tenant\": \"20000/s\"}, \"reason\": \"…\"}.", principal));
	}

	@DeleteMapping("/overrides/{policy}/{dimension}/{value}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> deleteOverride(@PathVariable String policy,
			@PathVariable String dimension, @PathVariable String value, @RequestParam Map<String, String> query,
			@Nullable Principal principal) {
		return response(this.records.delete(() -> RecordRequest.override(policy, dimension, value), query, principal));
	}

	@GetMapping("/tiers/{dimension}/{value}")
	public ResponseEntity<Map<String, Object>> tier(@PathVariable String dimension, @PathVariable String value,
			@RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("tiers", query, principal);
		return ResponseEntity.ok(this.records.show(() -> RecordRequest.tier(dimension, value)));
	}

	@PutMapping("/tiers/{dimension}/{value}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> putTier(@PathVariable String dimension,
			@PathVariable String value, @RequestParam Map<String, String> query, HttpEntity<byte[]> body,
			@Nullable Principal principal) {
		return response(this.records.put(() -> RecordRequest.tier(dimension, value), "tier", AdminBody.of(query, body),
				"Send something like {\"tier\": \"pro\", \"reason\": \"…\"}.", principal));
	}

	@DeleteMapping("/tiers/{dimension}/{value}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> deleteTier(@PathVariable String dimension,
			@PathVariable String value, @RequestParam Map<String, String> query, @Nullable Principal principal) {
		return response(this.records.delete(() -> RecordRequest.tier(dimension, value), query, principal));
	}

	@GetMapping("/lists/{list}")
	public ResponseEntity<Map<String, Object>> list(@PathVariable String list, @RequestParam Map<String, String> query,
			@Nullable Principal principal) {
		String after = look("lists", query, principal, "after").text("after");
		return ResponseEntity.ok(this.records.list(list, after));
	}

	@PutMapping("/lists/{list}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> putEntry(@PathVariable String list,
			@RequestParam Map<String, String> query, HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.records.putEntry(list, AdminBody.of(query, body), principal));
	}

	@DeleteMapping("/lists/{list}")
	public CompletionStage<ResponseEntity<Map<String, Object>>> deleteEntry(@PathVariable String list,
			@RequestParam Map<String, String> entry, @Nullable Principal principal) {
		return response(this.records.deleteEntry(list, entry, principal));
	}

	@PostMapping("/import")
	public CompletionStage<ResponseEntity<Map<String, Object>>> importRecords(@RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.records.importPage(AdminBody.of(query, body), principal));
	}

	@PostMapping("/store")
	public CompletionStage<ResponseEntity<Map<String, Object>>> recoverStore(@RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.records.recover(AdminBody.of(query, body), principal));
	}

	@GetMapping("/switch")
	public Map<String, Object> showSwitch(@RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("switch", query, principal);
		return this.redSwitch.show();
	}

	@PostMapping("/switch")
	public CompletionStage<ResponseEntity<Map<String, Object>>> turnSwitchOn(@RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.redSwitch.turnOn(AdminBody.of(query, body), principal));
	}

	@DeleteMapping("/switch")
	public CompletionStage<ResponseEntity<Map<String, Object>>> turnSwitchOff(@RequestParam Map<String, String> query,
			@Nullable Principal principal) {
		return response(this.redSwitch.turnOff(query, principal));
	}

	@GetMapping("/hotkeys")
	public List<Map<String, Object>> hotKeys(@RequestParam Map<String, String> query, @Nullable Principal principal) {
		look("hotkeys", query, principal, "by");
		return this.hotKeys.show(query.getOrDefault("by", HotKeyAdmin.TRAFFIC));
	}

	@PostMapping("/hotkeys")
	public CompletionStage<ResponseEntity<Map<String, Object>>> markHotKey(@RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return response(this.hotKeys.mark(AdminBody.of(query, body), principal));
	}

	@DeleteMapping("/hotkeys")
	public CompletionStage<ResponseEntity<Map<String, Object>>> unmarkHotKey(
			@RequestParam Map<String, String> selectors, @Nullable Principal principal) {
		return response(this.hotKeys.unmark(Map.copyOf(selectors), principal));
	}

	@GetMapping("/usage")
	public CompletionStage<ResponseEntity<Map<String, Object>>> usage(@RequestParam Map<String, String> caller,
			@Nullable Principal principal) {
		this.readers.require(principal, "usage");
		return response(this.usage.show(caller));
	}

	@DeleteMapping("/usage")
	public CompletionStage<ResponseEntity<Map<String, Object>>> resetUsage(@RequestParam Map<String, String> caller,
			@Nullable Principal principal) {
		return response(this.usage.reset(caller, principal));
	}

	@GetMapping("/refusals")
	public CompletionStage<ResponseEntity<Map<String, Object>>> refusals(@RequestParam Map<String, String> query,
			@Nullable Principal principal) {
		this.readers.require(principal, "refusals");
		return response(this.refusals.show(query));
	}

	@GetMapping("/audit")
	public CompletionStage<ResponseEntity<Map<String, Object>>> audit(@RequestParam Map<String, String> page,
			@Nullable Principal principal) {
		this.readers.require(principal, "audit");
		return response(this.audit.show(page));
	}

	/** Nothing here that only one of the two stacks has. */
	@ExceptionHandler({ HttpMessageNotReadableException.class, ResponseStatusException.class,
			BodyTooLargeException.class, DataBufferLimitException.class })
	ResponseEntity<Map<String, Object>> unreadable(Exception failure, @Nullable Principal principal) {
		return this.audit.unreadable(AdminProblem.ofBody(failure), principal).response();
	}

	@ExceptionHandler
	ResponseEntity<Map<String, Object>> invalid(AdminProblem problem) {
		return problem.response();
	}

	/** Who may not look does not hear what is wrong with the question. */
	private AdminQuery look(String what, Map<String, String> query, @Nullable Principal principal, String... known) {
		this.readers.require(principal, what);
		return AdminQuery.of(query, known);
	}

	private static CompletionStage<ResponseEntity<Map<String, Object>>> response(
			CompletionStage<Map<String, Object>> answer) {
		return AdminProblem.orResponse(answer);
	}

}
