package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import dev.ratelimit.Decision;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.servlet.ServletWebCall;

/**
 * The servlet request that a thread works for.
 */
public final class ServletCurrentCall implements CurrentCall {

	private static final String DECISIONS = ServletCurrentCall.class.getName() + ".decisions";

	private final HttpServletRequest request;

	private final @Nullable HttpServletResponse response;

	private ServletCurrentCall(ServletRequestAttributes attributes) {
		this.request = attributes.getRequest();
		this.response = attributes.getResponse();
	}

	/**
	 * A {@link CurrentCall.Source} for the servlet stack.
	 */
	public static @Nullable CurrentCall find() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? new ServletCurrentCall(attributes) : null;
	}

	@Override
	public WebCall facts() {
		return ServletWebCall.of(this.request);
	}

	@Override
	public void announce(Decision decision, HttpAnswers answers) {
		if (this.response != null && !this.response.isCommitted()) {
			List<Decision> decisions = decisions();
			decisions.add(decision);
			answers.answer(decisions, null).headers().forEach(this.response::setHeader);
		}
	}

	@SuppressWarnings("unchecked")
	private List<Decision> decisions() {
		Object before = this.request.getAttribute(DECISIONS);
		if (before != null) {
			return (List<Decision>) before;
		}
		List<Decision> decisions = new CopyOnWriteArrayList<>();
		this.request.setAttribute(DECISIONS, decisions);
		return decisions;
	}

}
