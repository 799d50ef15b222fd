package dev.ratelimit.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names of settings that a record of properties will have. Until then they are refused
 * with a message that says so: a limit that is configured and not kept would be worse
 * than none.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface NotSupportedYet {

	String[] value();

}
