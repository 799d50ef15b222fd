package dev.ratelimit.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

/**
 * Starts each method of a {@link RateLimitTest} with full counters: tests share the
 * context, but not what was counted in it.
 */
final class FullCountersPerTest implements TestExecutionListener {

	@Override
	public void beforeTestMethod(TestContext test) {
		if (TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), RateLimitTest.class)) {
			test.getApplicationContext().getBean(SettableClock.class).startOver();
		}
	}

}
