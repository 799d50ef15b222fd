package dev.ratelimit.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names of settings that a later version will have. They are refused with a message that
 * says so: a configured limit without effect would be worse than none.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface NotSupportedYet {

	String[] value();

}
