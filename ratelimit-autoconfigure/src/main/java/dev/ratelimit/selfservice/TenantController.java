package dev.ratelimit.selfservice;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import dev.ratelimit.admin.AdminController;
import dev.ratelimit.admin.Audit;

/**
 * The calls of a tenant's administrators, on the application's own port. {@code me} is
 * the tenant of the token: no call can name another.
 */
@RestController
@RequestMapping(TenantController.PATH)
class TenantController extends AdminController {

	static final String PATH = "/ratelimit/tenants/me";

	private final TenantAdmin tenants;

	TenantController(TenantAdmin tenants, Audit audit) {
		super(audit, Audit.TENANT);
		this.tenants = tenants;
	}

	@GetMapping("/usage")
	public CompletionStage<Map<String, Object>> usage(@RequestParam MultiValueMap<String, String> query,
			@Nullable Principal principal) {
		return this.tenants.show(query(query), principal);
	}

	@PatchMapping("/limits")
	public CompletionStage<Map<String, Object>> limits(@RequestParam MultiValueMap<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return this.tenants.change(body(query, body), principal);
	}

}
