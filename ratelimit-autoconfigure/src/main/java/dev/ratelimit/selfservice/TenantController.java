package dev.ratelimit.selfservice;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import dev.ratelimit.admin.AdminApi;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.BodyTooLargeException;

/**
 * What a tenant's administrator may do, on the application's own port. {@code me} is the
 * tenant of the token: no other can be named.
 */
@AdminApi(actions = Audit.TENANT)
@RestController
@RequestMapping(TenantController.PATH)
public class TenantController {

	public static final String PATH = "/ratelimit/tenants/me";

	private final TenantAdmin tenants;

	private final Audit audit;

	public TenantController(TenantAdmin tenants, Audit audit) {
		this.tenants = tenants;
		this.audit = audit;
	}

	@GetMapping("/usage")
	public CompletionStage<ResponseEntity<Map<String, Object>>> usage(@RequestParam Map<String, String> query,
			@Nullable Principal principal) {
		return AdminProblem.orResponse(this.tenants.show(principal, query));
	}

	@PatchMapping("/limits")
	public CompletionStage<ResponseEntity<Map<String, Object>>> limits(@RequestParam Map<String, String> query,
			HttpEntity<byte[]> body, @Nullable Principal principal) {
		return AdminProblem.orResponse(this.tenants.change(AdminBody.of(query, body), principal));
	}

	/** Nothing here that only one of the two stacks has. */
	@ExceptionHandler({ HttpMessageNotReadableException.class, ResponseStatusException.class,
			BodyTooLargeException.class, DataBufferLimitException.class })
	ResponseEntity<Map<String, Object>> unreadable(Exception failure, @Nullable Principal principal) {
		this.audit.unreadable(Audit.TENANT, principal);
		return AdminProblem.ofBody(failure).response();
	}

}
