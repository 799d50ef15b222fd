package dev.ratelimit.app.demo;

import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Profile;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Issues tokens for any user, tenant and role to callers on this host.
 */
@RestController
@Profile("demo")
class DemoTokenController {

	// Behind a proxy on this host, every caller would look local.
	private static final List<String> PROXY_HEADERS = List.of("X-Forwarded-For", "Forwarded");

	private final DemoProperties properties;

	DemoTokenController(DemoProperties properties) {
		this.properties = properties;
	}

	@GetMapping("/demo/token")
	ResponseEntity<Token> token(@RequestParam(required = false) @Nullable String tenant,
			@RequestParam(required = false) @Nullable String user,
			@RequestParam(required = false) @Nullable String tier, @RequestParam(defaultValue = "") List<String> roles,
			ServerHttpRequest request) {
		if (!this.properties.remote() && !fromThisHost(request)) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN,
					"Demo tokens are for callers on this host, unless ratelimit.demo.remote=true");
		}
		Map<String, Object> claims = new LinkedHashMap<>();
		putIfPresent(claims, "tenant_id", tenant);
		putIfPresent(claims, "sub", user);
		putIfPresent(claims, "tier", tier);
		if (!roles.isEmpty()) {
			claims.put("roles", roles);
		}
		Token token = new Token(DemoTokens.sign(claims, Instant.now()), "Bearer", DemoTokens.LIFETIME.toSeconds());
		return ResponseEntity.ok().cacheControl(CacheControl.noStore()).body(token);
	}

	private static void putIfPresent(Map<String, Object> claims, String name, @Nullable String value) {
		if (StringUtils.hasText(value)) {
			claims.put(name, value);
		}
	}

	private static boolean fromThisHost(ServerHttpRequest request) {
		InetSocketAddress remote = request.getRemoteAddress();
		return remote != null && remote.getAddress() != null && remote.getAddress().isLoopbackAddress()
				&& PROXY_HEADERS.stream().allMatch((name) -> request.getHeaders().getFirst(name) == null);
	}

	/** A token as OAuth 2 servers answer it. */
	record Token(@JsonProperty("access_token") String accessToken, @JsonProperty("token_type") String tokenType,
			@JsonProperty("expires_in") long expiresIn) {
	}

}
