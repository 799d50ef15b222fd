package dev.ratelimit.test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Penalties;

/**
 * Starts each method of a {@link RateLimitTest} with full counters and without cool-downs
 * and bans: tests share the context, but not what was counted in it. The slice has no
 * leases and remembers no refusals, because its counters are in memory.
 */
final class FullCountersPerTest implements TestExecutionListener {

	@Override
	public void beforeTestMethod(TestContext test) {
		if (TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), RateLimitTest.class)) {
			ApplicationContext context = test.getApplicationContext();
			context.getBean(SettableClock.class).startOver();
			context.getBeanProvider(MemoryCounters.class).forEach(MemoryCounters::clear);
			context.getBeanProvider(Penalties.class).forEach(Penalties::clear);
		}
	}

}
