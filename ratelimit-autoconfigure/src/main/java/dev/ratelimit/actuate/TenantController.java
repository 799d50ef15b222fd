package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * What a tenant's administrator may do, on the application's own port. {@code me} is the
 * tenant of the token: no other can be named.
 */
@RestController
@RequestMapping(TenantController.PATH)
public class TenantController {

	public static final String PATH = "/ratelimit/tenants/me";

	private final TenantAdmin tenants;

	private final AuditAdmin audit;

	public TenantController(TenantAdmin tenants, AuditAdmin audit) {
		this.tenants = tenants;
		this.audit = audit;
	}

	@GetMapping("/usage")
	public CompletionStage<ResponseEntity<Map<String, Object>>> usage(
			@RequestParam(name = "after", defaultValue = "") String after, @Nullable Principal principal) {
		return AdminProblem.orResponse(this.tenants.show(principal, after));
	}

	@PatchMapping("/limits")
	public CompletionStage<ResponseEntity<Map<String, Object>>> limits(
			@RequestBody(required = false) @Nullable Map<String, Object> body, @Nullable Principal principal) {
		return AdminProblem.orResponse(this.tenants.change(body, principal));
	}

	@ExceptionHandler({ HttpMessageNotReadableException.class, HttpMediaTypeNotSupportedException.class,
			ResponseStatusException.class, BodyTooLargeException.class, DataBufferLimitException.class })
	ResponseEntity<Map<String, Object>> unreadable(Exception failure, @Nullable Principal principal) {
		AdminProblem problem = AdminProblem.ofBody(failure, TenantRequest.EXAMPLE);
		// Strangers must not be able to fill the trail.
		return ((principal != null) ? this.audit.unreadable(problem, principal) : problem).response();
	}

}
