package dev.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * A test whose application has its limits in memory, on a {@link SettableClock} that the
 * test can inject. Stands next to {@code @SpringBootTest}, or to a slice such as
 * {@code @WebMvcTest} and {@code @WebFluxTest}, which have no limiter without it.
 *
 * <p>
 * The policies are those of the application's configuration and of the test's properties.
 * Each test method starts at the same time, with full counters. There is neither Redis
 * nor a policy store, whatever the configuration says.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface RateLimitTest {

}
