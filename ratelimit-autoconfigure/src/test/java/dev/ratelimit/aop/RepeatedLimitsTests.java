package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Several annotations on one method. Policy {@code orders} has 3 permits, {@code wide}
 * has 100.
 */
class RepeatedLimitsTests {

	private AnnotationConfigApplicationContext context;

	private RecordedLimiter limiter;

	private Service service;

	@BeforeEach
	void start() {
		this.context = new AnnotationConfigApplicationContext(AopConfiguration.class, Beans.class);
		this.limiter = this.context.getBean(RecordedLimiter.class);
		this.service = this.context.getBean(Service.class);
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void allHoldAndARefusalTakesNothing(boolean later) {
		if (later) {
			this.limiter.answerOn(ForkJoinPool.commonPool());
		}
		for (int i = 0; i < 3; i++) {
			this.service.both();
		}
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::both)
			.satisfies((ex) -> assertThat(ex.decision().policy()).isEqualTo("orders"));
		assertThat(this.limiter.remaining("wide")).isEqualTo(97);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void publisherIsHeldByAll(boolean later) {
		if (later) {
			this.limiter.answerOn(ForkJoinPool.commonPool());
		}
		for (int i = 0; i < 3; i++) {
			assertThat(this.service.mono().block()).isEqualTo("hello");
		}
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> this.service.mono().block());
		assertThat(this.limiter.remaining("wide")).isEqualTo(97);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void stageIsHeldByAll(boolean later) {
		if (later) {
			this.limiter.answerOn(ForkJoinPool.commonPool());
		}
		for (int i = 0; i < 3; i++) {
			assertThat(this.service.stage().toCompletableFuture().join()).isEqualTo("hello");
		}
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> this.service.stage().toCompletableFuture().join())
			.withCauseInstanceOf(RateLimitExceededException.class);
		assertThat(this.limiter.remaining("wide")).isEqualTo(97);
	}

	@Test
	void samePolicyIsChargedOnceWithTheLargerCost() {
		this.service.twice();
		assertThat(this.limiter.remaining("wide")).isEqualTo(95);
		assertThat(this.limiter.requests()).hasSize(1);
	}

	@Test
	void samePolicyIsChargedForEachKey() {
		this.service.keys("a", "b");
		assertThat(this.limiter.requests()).hasSize(2);
		this.service.keys("c", "c");
		assertThat(this.limiter.requests()).hasSize(3);
	}

	@Test
	void annotationsOfAMethodReplaceThoseOfItsClassUnlessTheySayOtherwise() {
		WholeClass whole = this.context.getBean("whole", WholeClass.class);
		whole.own();
		assertThat(policies()).containsExactly("orders");
		whole.withClass();
		assertThat(policies()).containsExactly("orders", "orders", "wide");
		whole.inherited();
		assertThat(policies()).containsExactly("orders", "orders", "wide", "wide");
	}

	@Test
	void annotationsOfAnOverriddenMethodDoNotAdd() {
		this.context.getBean(Overriding.class).own();
		assertThat(policies()).containsExactly("users-or-free");
	}

	@Test
	void callWhoseConditionIsFalseIsNotLimitedAndCountsAsBypassed() {
		Decisions decisions = this.context.getBean(Decisions.class);
		assertThat(this.service.large(1, null)).isEqualTo(Decision.Outcome.BYPASSED);
		assertThat(this.limiter.requests()).isEmpty();
		assertThat(decisions.all).containsExactly("orders bypassed");
		assertThat(this.service.large(101, null)).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(policies()).containsExactly("orders");
	}

	@Test
	void callWhoseConditionFailsIsLimited() {
		this.service.failing(null);
		this.service.failing("text");
		assertThat(policies()).containsExactly("orders", "orders");
	}

	@Test
	void differentFallbacksOnOneMethodFailTheStart() {
		assertThatIllegalStateException()
			.isThrownBy(() -> new RateLimitedMethods().find(TwoFallbacks.class.getMethod("call"), TwoFallbacks.class))
			.withMessageContaining("several fallback methods (one, two)");
	}

	private List<String> policies() {
		return this.limiter.requests().stream().map(Request::policy).toList();
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Service service() {
			return new Service();
		}

		@Bean
		WholeClass whole() {
			return new WholeClass();
		}

		@Bean
		Overriding overriding() {
			return new Overriding();
		}

		@Bean
		Decisions decisions() {
			return new Decisions();
		}

	}

	static class Decisions implements DecisionListener {

		private final List<String> all = new CopyOnWriteArrayList<>();

		@Override
		public void decided(Request request, Decision decision, long nanos) {
			this.all.add(decision.policy() + " " + decision.outcome().text());
		}

	}

	static class Service {

		@RateLimited("wide")
		@RateLimited("orders")
		public void both() {
		}

		@RateLimited("wide")
		@RateLimited("orders")
		public Mono<String> mono() {
			return Mono.just("hello");
		}

		@RateLimited("wide")
		@RateLimited("orders")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedStage("hello");
		}

		@RateLimited(policy = "wide", cost = "2")
		@RateLimited(policy = "wide", cost = "5")
		@RateLimited("wide")
		public void twice() {
		}

		@RateLimited(policy = "accounts", key = "#first")
		@RateLimited(policy = "accounts", key = "#second")
		public void keys(String first, String second) {
		}

		@RateLimited(policy = "orders", condition = "#size > 100")
		public Decision.Outcome large(int size, Decision decision) {
			return decision.outcome();
		}

		@RateLimited(policy = "orders", condition = "#text.length()")
		public void failing(String text) {
		}

	}

	@RateLimited("wide")
	static class WholeClass {

		@RateLimited("orders")
		public void own() {
		}

		@RateLimited(policy = "orders", withClass = true)
		public void withClass() {
		}

		public void inherited() {
		}

	}

	static class Overriding extends WholeClass {

		@Override
		@RateLimited("users-or-free")
		public void own() {
		}

	}

	static class TwoFallbacks {

		@RateLimited(policy = "orders", fallbackMethod = "one")
		@RateLimited(policy = "wide", fallbackMethod = "two")
		public void call() {
		}

	}

}
