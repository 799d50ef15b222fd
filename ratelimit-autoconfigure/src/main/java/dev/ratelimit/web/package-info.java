/**
 * Shared by the edges: resolves a call to its caller and cost, checks it, and turns the
 * decision into HTTP.
 * <ul>
 * <li>a call: {@link WebCall}; {@link CallCheck} resolves and checks it;
 * {@link CallDecisions} keeps what was decided for it, {@link CheckCounts} how often;
 * {@link CallTrace}</li>
 * <li>who calls: {@link RequestResolver} collects {@link CallerFacts} by
 * {@link ResolutionPlans}; {@link IdentityResolver} finds the {@link Identity} by
 * {@link IdentityOptions}, {@link SecurityPrincipals}, {@link SecurityCallers} as
 * {@link CallerSource} says, {@link CallerResolver}, {@link KnownKeys}, {@link KeyTiers}
 * and {@link ApiKeyVerifier}; {@link VerifiedTenant}; {@link ClientIp} with
 * {@link TrustedProxies}; {@link RequestIds}; {@link ResolutionException}</li>
 * <li>further facts: {@link DimensionResolver}, {@link DeclaredDimension},
 * {@link CustomDimensions} and {@link QueryParameters}</li>
 * <li>paths: {@link PathCosts} and {@link CostPatterns}; {@link UrlCheck} over
 * {@link UrlLimits}, each a {@link UrlLimit}; {@link PathPatterns} and
 * {@link PathReadings}</li>
 * <li>true costs: {@link CostTap} reads a response by {@link CostReader}, with
 * {@link JsonNumbers}, {@link GzipBytes} and {@link ReadableEncoding};
 * {@link SettledPolicies}</li>
 * <li>the answer: {@link HttpAnswers} makes an {@link HttpAnswer} by
 * {@link HeaderOptions}, {@link DraftFields}, {@link RetryAfter}, {@link Problems} and
 * {@link ProblemCustomizer}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
