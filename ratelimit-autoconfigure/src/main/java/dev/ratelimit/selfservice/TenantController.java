package dev.ratelimit.selfservice;

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

import dev.ratelimit.admin.AdminApi;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.BodyTooLargeException;

/**
 * What a tenant's administrator may do, on the application's own port. {@code me} is the
 * tenant of the token: no other can be named.
 */
@AdminApi
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
		if (principal != null) {
			// Strangers must not be able to fill the trail.
			this.audit.unreadable(principal);
		}
		return problem.response();
	}

}
