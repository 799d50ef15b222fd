package dev.ratelimit.actuate;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.context.ApplicationListener;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authorization.event.AuthorizationDeniedEvent;
import org.springframework.security.authorization.event.AuthorizationEvent;
import org.springframework.security.core.Authentication;

/**
 * Listens to what Spring Security refuses on the servlet stack. Loaded only where Spring
 * Security is present.
 */
record ServletDeniedListener(DeniedAttempts attempts) implements ApplicationListener<AuthorizationEvent> {

	@Override
	public void onApplicationEvent(AuthorizationEvent event) {
		if (event instanceof AuthorizationDeniedEvent<?> && event.getSource() instanceof HttpServletRequest request) {
			Authentication caller = event.getAuthentication().get();
			if (caller != null && !(caller instanceof AnonymousAuthenticationToken)) {
				this.attempts.denied(caller, request.getMethod(),
						request.getRequestURI().substring(request.getContextPath().length()));
			}
		}
	}

}
