/**
 * The annotation for controllers and other beans.
 *
 * <h2>When a call is decided</h2> A method that returns a publisher is decided when
 * somebody subscribes, and so is a suspending function of Kotlin, of which Spring makes a
 * publisher. One that returns a {@code CompletionStage} goes on when the decision is
 * there. Any other waits for it on its thread.
 *
 * <h2>Handlers of WebFlux that are no publishers</h2> WebFlux calls them on an event
 * loop, which must not wait, and they see no Reactor context, so that nobody knows who
 * calls. {@link dev.ratelimit.aop.RateLimitedHandlerAdapter} comes before Spring's
 * adapter. It finds out who calls, asks the limiter without waiting, and only then lets
 * Spring call the handler, on an object that stands for the controller during this
 * request alone. That object keeps exchange and decision in a thread-local variable
 * exactly while the controller's method runs. There the aspect finds them and obeys: a
 * refusal is thrown where the controller would throw, and its own
 * {@code @ExceptionHandler} is reached.
 * <p>
 * A {@code cost} or {@code key} needs the arguments, which Spring's adapter alone has.
 * Such a handler is called on Spring's executor for blocking handlers, and waits there.
 *
 * <h2>What always holds</h2>
 * <ul>
 * <li>Every call of a limited method is decided once, before its body runs. It would fail
 * if the annotated method was called past its proxy; so methods that no proxy can
 * override fail the start ({@link dev.ratelimit.aop.RateLimitedProxyCheck}).</li>
 * <li>No event loop waits. A plain bean method that is called on one asks, obeys an
 * answer that is there at once, and otherwise leaves the call to the failure mode
 * ({@link dev.ratelimit.RateLimiter#checkNow}). Who calls is not known there outside of
 * the body of a limited handler, which is not the same as nobody: limits that need the
 * caller are left to the failure mode too.</li>
 * <li>A decision is obeyed by the call it was made for. It belongs to one method and is
 * told once, and nothing is left on a thread when the method has returned; otherwise one
 * caller's refusal would be another's.</li>
 * <li>A refusal is answered as one, whatever handlers for all exceptions an application
 * has; only a handler that names it comes first ({@code RefusalHandlers}).</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.aop;

import org.jspecify.annotations.NullMarked;
