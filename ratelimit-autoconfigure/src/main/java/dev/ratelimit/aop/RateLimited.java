package dev.ratelimit.aop;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Every call of the method is checked against a policy first; one that is refused ends in
 * a {@link RateLimitExceededException}, which controllers answer with 429.
 * <p>
 * It can be repeated: all of them hold together, and a call that one of them refuses
 * takes nothing from the others. Where two name the same policy and key, the larger cost
 * is taken once.
 * <p>
 * On a class it holds for all public methods that are not static; those on a method take
 * its place unless they say {@link #withClass()}. Calls that a bean makes to itself do
 * not pass the proxy and are not checked. A method that no proxy can override (private,
 * static or final) fails the start.
 * <p>
 * A method that returns a {@code Mono}, a {@code Flux} or the like is checked at each
 * subscription, and so is a suspending function of Kotlin. A method that returns a
 * {@code CompletionStage} runs after the decision, perhaps on another thread, and any
 * other waits for it. Handlers of WebFlux may return anything; their decision comes
 * first, and no event loop waits for it. A plain method of another bean that is called on
 * an event loop uses a decision that is available at once; otherwise the policy's failure
 * mode decides. The failure mode also decides if its limits need the caller, who is known
 * there only in the body of a limited handler.
 * <p>
 * Outside of a request the caller is known from Spring Security's context, or missing.
 * <p>
 * A parameter of type {@link dev.ratelimit.Decision} gets the decision, whatever a caller
 * passes: with it the method can settle the true cost of a policy that estimates it.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(RateLimited.List.class)
public @interface RateLimited {

	/**
	 * Id of the policy.
	 */
	@AliasFor("policy")
	String value() default "";

	/**
	 * Id of the policy.
	 */
	@AliasFor("value")
	String policy() default "";

	/**
	 * How many permits a call takes: a number, or a SpEL expression on the method's
	 * arguments such as {@code #size} or {@code #p0}. Nothing else is visible to it. By
	 * default the policy's {@code costs} and {@code cost.estimate} decide. A result below
	 * 0 counts as 1, and an expression that fails as the largest cost that fits.
	 */
	String cost() default "";

	/**
	 * The value of the dimension {@code key}: a SpEL expression on the method's
	 * arguments, such as {@code #accountId}. One that fails is a missing identity.
	 */
	String key() default "";

	/**
	 * Name of a method of the same class that answers refused calls instead of the
	 * exception: with the same parameters, perhaps followed by a
	 * {@link RateLimitExceededException} or a supertype, and the same return type. It may
	 * be private and is not checked itself. One that does not exist fails the start, and
	 * so do two different ones on one method.
	 */
	String fallbackMethod() default "";

	/**
	 * Whether those on the class hold too.
	 */
	boolean withClass() default false;

	/**
	 * A SpEL expression on the method's arguments, such as {@code #size > 100}. A call
	 * for which it is false is not limited, and counts as bypassed. One that fails or is
	 * neither true nor false limits the call.
	 */
	String condition() default "";

	/**
	 * Several of them.
	 */
	@Target({ ElementType.TYPE, ElementType.METHOD })
	@Retention(RetentionPolicy.RUNTIME)
	@Inherited
	@Documented
	@interface List {

		RateLimited[] value();

	}

}
