/**
 * The annotation for controllers and other beans.
 *
 * <h2>When a call is decided</h2> A method that returns a publisher is decided at each
 * subscription, and so is a suspending function of Kotlin, which Spring turns into a
 * publisher. A method that returns a {@code CompletionStage} runs after the decision. Any
 * other method waits for the decision on its thread.
 *
 * <h2>Handlers of WebFlux that are no publishers</h2> WebFlux calls them on an event
 * loop, which must not wait, and without a Reactor context, so that their caller is
 * unknown. {@link dev.ratelimit.aop.RateLimitedHandlerAdapter} comes before Spring's
 * adapter. It identifies the caller, asks the limiter without waiting, and then lets
 * Spring call the handler on a proxy of the controller for this request alone. The proxy
 * keeps exchange and decision in a thread-local variable exactly while the controller's
 * method runs. There the aspect finds and enforces them: a refusal is thrown where the
 * controller would throw, so that its own {@code @ExceptionHandler} is reached.
 * <p>
 * An expression needs the arguments, which only Spring's adapter has. Such a handler is
 * called on Spring's executor for blocking handlers, and waits there.
 *
 * <h2>What always holds</h2>
 * <ul>
 * <li>Every call of a limited method is decided once, before its body runs. A call that
 * bypasses the proxy would not be, so methods that no proxy can override fail the start
 * ({@code RateLimitedAutoConfiguration.ProxyCheck}).</li>
 * <li>No event loop waits. A plain bean method on an event loop enforces a decision that
 * is available at once, and otherwise leaves the call to the failure mode
 * ({@link dev.ratelimit.RateLimiter#checkNow}). Outside of the body of a limited handler
 * the caller is unknown there, which differs from a call without a caller: limits that
 * need the caller are left to the failure mode too.</li>
 * <li>A decision is enforced on the call it was made for. It belongs to one method and
 * can be taken once, and nothing is left on a thread when the method has returned;
 * otherwise one caller could get another's refusal.</li>
 * <li>A refusal is answered as a refusal, whatever handlers for all exceptions an
 * application has; only a handler that names it takes precedence
 * ({@code RefusalHandlers}).</li>
 * </ul>
 *
 * <h2>Classes</h2>
 * <ul>
 * <li>methods: {@link RateLimited} is read by {@link RateLimitedMethods} into a
 * {@link RateLimitedMethod} with each {@link MethodLimit}, {@link ArgumentExpression},
 * {@link ReturnKind} and {@link FallbackMethod}; {@link FallbackMethodHints} is for
 * native images, {@link CallLimits} for edges such as gRPC</li>
 * <li>a call: {@link RateLimitedAdvisor} and {@link RateLimitedAspect} let
 * {@link MethodCheck} decide a {@link CurrentCall} ({@link ServletCurrentCall},
 * {@link ExchangeCurrentCall} or {@link NoCall}) into a {@link MethodVerdict};
 * {@link ReactiveMethod} for publishers; {@link DecisionArguments} for parameters;
 * {@link CallNotCheckedException}</li>
 * <li>plain handlers: {@link RateLimitedHandlerAdapter} with {@link BoundHandlerMethod},
 * {@link RequestProxies} and {@link BlockingHandlers}</li>
 * <li>refusals: {@link RateLimitExceededException} and
 * {@link RateLimitErrorResponseException}, answered by
 * {@link RateLimitedExceptionResolver} or {@link RateLimitedWebExceptionHandler} unless
 * {@link RefusalHandlers} finds one of the application</li>
 * <li>beans: {@link RateLimitedAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.aop;

import org.jspecify.annotations.NullMarked;
