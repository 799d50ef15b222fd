package dev.ratelimit.admin;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A controller that changes limits, whose bodies are therefore bounded.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface AdminApi {

	/**
	 * What the actions of its callers begin with in the trail.
	 */
	String actions() default "";

}
