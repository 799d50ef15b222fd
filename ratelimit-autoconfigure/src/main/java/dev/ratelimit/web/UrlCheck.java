package dev.ratelimit.web;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;

/**
 * Checks a request against the URL entries that match it, one after the other until one
 * refuses, for both stacks. A refusal gives back the permits of the entries before it,
 * except of those that were checked before authentication: a flood of bad tokens must not
 * be free because it is refused later.
 */
public final class UrlCheck {

	private final UrlLimits limits;

	private final CallCheck check;

	private final boolean beforeAuthentication;

	/**
	 * Creates the check of one filter.
	 * @param beforeAuthentication whether its requests are not authenticated yet
	 */
	public UrlCheck(UrlLimits limits, RequestResolver resolver, RateLimiter limiter, boolean beforeAuthentication) {
		this.limits = limits;
		this.check = new CallCheck(beforeAuthentication ? resolver.beforeAuthentication() : resolver, limiter);
		this.beforeAuthentication = beforeAuthentication;
	}

	/**
	 * The entries that a request is checked against.
	 */
	public List<UrlLimit> matching(WebCall call) {
		return this.limits.matching(call, this.beforeAuthentication);
	}

	/**
	 * Decides a request.
	 * @param entries those that match it
	 * @param calls the call by its route, which is the name of the entry
	 * @param decisions about the request, to which those that let it pass are added
	 * @param trace notes the decisions
	 */
	public CompletableFuture<Verdict> decide(List<UrlLimit> entries, Function<String, WebCall> calls,
			CallDecisions decisions, CallTrace trace) {
		for (int i = 0; i < entries.size(); i++) {
			UrlLimit entry = entries.get(i);
			CompletableFuture<Decision> pending = this.check.decide(new CallCheck.Subject(calls.apply(entry.name()),
					entry.policy(), entry.cost(), Map.of(), decisions, null));
			if (!pending.isDone()) {
				List<UrlLimit> rest = entries.subList(i + 1, entries.size());
				return pending.thenCompose((decision) -> {
					Verdict verdict = decided(entry, decision, decisions, trace);
					return (verdict == Verdict.PASSED) ? decide(rest, calls, decisions, trace)
							: CompletableFuture.completedFuture(verdict);
				});
			}
			Verdict verdict = decided(entry, pending.join(), decisions, trace);
			if (verdict != Verdict.PASSED) {
				return CompletableFuture.completedFuture(verdict);
			}
		}
		return CompletableFuture.completedFuture(Verdict.PASSED);
	}

	private Verdict decided(UrlLimit entry, Decision decision, CallDecisions decisions, CallTrace trace) {
		if (decisions.contains(decision)) {
			return Verdict.PASSED;
		}
		trace.decided(decision);
		if (!decision.allowed()) {
			return new Verdict(decision, entry.name());
		}
		decisions.add(decision, CallDecisions.Edge.REQUEST, !this.beforeAuthentication);
		return Verdict.PASSED;
	}

	/**
	 * What the entries say about a request.
	 *
	 * @param refusal the decision that refuses it, {@code null} if it passes
	 * @param url name of the entry that refuses it
	 */
	public record Verdict(@Nullable Decision refusal, String url) {

		static final Verdict PASSED = new Verdict(null, "");

		/**
		 * The answer to a refused request, {@code null} if it passes.
		 */
		public @Nullable HttpAnswer answer(HttpAnswers answers, CallTrace trace) {
			return (this.refusal != null) ? answers.answer(this.refusal, trace.id(), this.url) : null;
		}

	}

}
