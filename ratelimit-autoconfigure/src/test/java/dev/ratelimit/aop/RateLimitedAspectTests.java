package dev.ratelimit.aop;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolder;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RateLimitedAspectTests {

	private static final Dimension KEY = new Dimension("key");

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			AopConfiguration.class, Service.class, Outer.class, Implementation.class, Repositories.class,
			MonoSource.class);

	private final Service service = this.context.getBean(Service.class);

	private final RecordedLimiter limiter = this.context.getBean(RecordedLimiter.class);

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void beansWithTheAnnotationAreProxiedWithoutAspectJ() {
		assertThat(AopUtils.isAopProxy(this.service)).isTrue();
		assertThat(AopUtils.isAopProxy(this.limiter)).isFalse();
	}

	@Test
	void callBeyondTheLimitIsRefusedAndNotMade() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.service.plain()).isEqualTo("done");
		}
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::plain)
			.satisfies((ex) -> assertThat(ex.decision().outcome()).isEqualTo(Decision.Outcome.REFUSED))
			.satisfies((ex) -> assertThat(ex.retryAfter()).isPositive());
		assertThat(Service.calls(this.service)).isEqualTo(3);
	}

	@Test
	void traceIsToldOfEachDecisionWhateverTheMethodReturns() {
		RecordedTraces traces = this.context.getBean(RecordedTraces.class);
		this.service.plain();
		this.service.stage().toCompletableFuture().join();
		this.service.mono().contextWrite((context) -> context.put("micrometer.observation", "its context")).block();
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::plain);
		assertThat(traces.told()).containsExactly("orders allowed by null", "orders allowed by null",
				"orders allowed by its context", "orders refused by null");
	}

	@Test
	void refusalHasNoStackTraceAndNoValueOfTheCaller() {
		this.service.perAccount("secret", 3);
		assertThatExceptionOfType(RateLimitExceededException.class)
			.isThrownBy(() -> this.service.perAccount("secret", 1))
			.withMessage("Turned away by policy 'accounts' (refused)")
			.satisfies((ex) -> assertThat(ex.getStackTrace()).isEmpty());
	}

	@Test
	void costAndKeyComeFromTheArguments() {
		this.service.perAccount("acme", 3);
		assertThat(this.limiter.last().cost()).isEqualTo(3);
		assertThat(this.limiter.last().dimensions()).containsEntry(KEY, "acme");
		this.service.perAccount("other", 3);
	}

	@Test
	void constantCostIsTaken() {
		this.service.fixed();
		assertThat(this.limiter.last().cost()).isEqualTo(2);
	}

	@Test
	void outsideOfHttpTheRouteIsTheMethod() {
		this.service.byRoute();
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.ROUTE, "Service.byRoute")
			.containsEntry(Dimension.REGION, "local")
			.doesNotContainKey(Dimension.IP);
	}

	@Test
	void pathPatternsDoNotMatterOutsideOfHttp() {
		this.service.closed();
		assertThat(this.limiter.last().cost()).isEqualTo(1);
	}

	@Test
	void costThatThrowsIsTheLargestThatFits() {
		assertThat(this.service.broken(null)).isEqualTo("done");
		assertThat(this.limiter.failures()).isEmpty();
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> this.service.broken(null))
			.satisfies((ex) -> assertThat(ex.decision().outcome()).isEqualTo(Decision.Outcome.REFUSED))
			.satisfies((ex) -> assertThat(ex.decision().cost()).isEqualTo(3));
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::plain);
	}

	@Test
	void keyThatThrowsIsAMissingIdentity() {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> this.service.brokenKey(null))
			.satisfies((ex) -> assertThat(ex.decision().reason()).isEqualTo(Decision.Reason.IDENTITY));
		assertThat(this.limiter.failures()).isEmpty();
		assertThat(this.limiter.last().unresolved().dimensions()).containsOnly(KEY);
	}

	@Test
	void keyIsNoVerifiedFact() {
		this.service.perAccount("acme", 1);
		assertThat(this.limiter.last().verified(KEY)).isNull();
	}

	@Test
	void denyListHoldsWhenNotEvenTheFailureModeAnswers() {
		this.limiter.failWith(new IllegalStateException("broken"));
		this.limiter.failToDegrade();
		assertThat(this.service.plain()).isEqualTo("done");
		AopConfiguration.POLICIES.records().addDenied(Map.of(Dimension.ROUTE, "Service.byRoute"));
		try {
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::byRoute)
				.satisfies((ex) -> assertThat(ex.decision().reason()).isEqualTo(Decision.Reason.LIST));
		}
		finally {
			AopConfiguration.POLICIES.records().removeDenied(Map.of(Dimension.ROUTE, "Service.byRoute"));
		}
	}

	@Test
	void limiterThatThrowsIsAnsweredByTheFailureMode() {
		this.limiter.failWith(new IllegalStateException("broken"));
		assertThat(this.service.plain()).isEqualTo("done");
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::closed);
		assertThat(this.limiter.failures()).hasSize(2);
	}

	@Test
	void everyAnnotatedMethodOnTheWayIsOneCheck() {
		this.context.getBean(Outer.class).call();
		assertThat(this.limiter.requests()).extracting("policy").containsExactly("wide", "orders");
	}

	@Test
	void exceptionOfTheMethodIsPassedOn() throws IOException {
		assertThatExceptionOfType(IOException.class).isThrownBy(this.service::fails);
		StepVerifier.create(this.service.monoFails()).verifyError(IOException.class);
		assertThat(this.service.stageFails()).failsWithin(0, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(IOException.class);
	}

	@Test
	void waitsForADecisionThatComesLater() {
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		assertThat(this.service.plain()).isEqualTo("done");
	}

	@Test
	void stageIsRefusedThroughTheStage() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.service.stage().toCompletableFuture().join()).isEqualTo("done");
		}
		assertThat(this.service.stage().toCompletableFuture()).failsWithin(0, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(RateLimitExceededException.class);
	}

	@Test
	void stageDoesNotWaitForTheDecision() {
		AtomicReference<Runnable> decide = new AtomicReference<>();
		this.limiter.answerOn(decide::set);
		CompletableFuture<String> stage = this.service.stage().toCompletableFuture();
		assertThat(stage).isNotDone();
		assertThat(Service.calls(this.service)).isZero();
		decide.get().run();
		assertThat(stage).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo("done");
	}

	@Test
	void eachSubscriptionIsOneCall() {
		Mono<String> mono = this.service.mono();
		assertThat(this.limiter.requests()).isEmpty();
		for (int i = 0; i < 3; i++) {
			StepVerifier.create(mono).expectNext("done").verifyComplete();
		}
		StepVerifier.create(mono).verifyError(RateLimitExceededException.class);
		assertThat(Service.calls(this.service)).isEqualTo(3);
	}

	@Test
	void streamIsCheckedOnceForAllItsElements() {
		StepVerifier.create(this.service.flux()).expectNext("a", "b", "c", "d").verifyComplete();
		assertThat(this.limiter.requests()).hasSize(1);
	}

	@Test
	void contextOfTheSubscriberReachesTheMethod() {
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		StepVerifier.create(this.service.contextual().contextWrite((context) -> context.put("who", "ann")))
			.expectNext("ann")
			.verifyComplete();
	}

	@Test
	void methodIsNotCalledForASubscriberThatIsGone() throws InterruptedException {
		AtomicReference<Runnable> decide = new AtomicReference<>();
		this.limiter.answerOn(decide::set);
		Disposable subscriber = this.service.mono().subscribe();
		subscriber.dispose();
		decide.get().run();
		CountDownLatch after = new CountDownLatch(Schedulers.DEFAULT_POOL_SIZE);
		for (int i = 0; i < Schedulers.DEFAULT_POOL_SIZE; i++) {
			Schedulers.parallel().schedule(after::countDown);
		}
		assertThat(after.await(5, TimeUnit.SECONDS)).isTrue();
		assertThat(Service.calls(this.service)).isZero();
	}

	@Test
	void reactiveMethodDoesNotRunOnTheThreadOfTheDecision() {
		AtomicReference<Runnable> decide = new AtomicReference<>();
		this.limiter.answerOn(decide::set);
		CompletableFuture<String> thread = this.service.thread().toFuture();
		decide.get().run();
		assertThat(thread).succeedsWithin(5, TimeUnit.SECONDS).asString().startsWith("parallel");
	}

	@Test
	void plainMethodOnAThreadThatMustNotBlockObeysAnAnswerThatIsThere() {
		for (int i = 0; i < 3; i++) {
			assertThat(Mono.fromSupplier(this.service::plain).subscribeOn(Schedulers.parallel()).block())
				.isEqualTo("done");
		}
		StepVerifier.create(Mono.fromSupplier(this.service::plain).subscribeOn(Schedulers.parallel()))
			.verifyError(RateLimitExceededException.class);
		assertThat(this.limiter.failures()).isEmpty();
	}

	@Test
	void plainMethodOnAThreadThatMustNotBlockIsAnsweredByTheFailureModeBeforeALaterAnswer() {
		AtomicReference<Runnable> decide = new AtomicReference<>();
		this.limiter.answerOn(decide::set);
		assertThat(Mono.fromSupplier(this.service::plain).subscribeOn(Schedulers.parallel()).block()).isEqualTo("done");
		assertThat(this.limiter.requests()).hasSize(1);
		assertThat(this.limiter.failures()).hasSize(1);
		StepVerifier.create(Mono.fromRunnable(this.service::closed).subscribeOn(Schedulers.parallel()))
			.verifyError(RateLimitExceededException.class);
	}

	@Test
	void outsideOfARequestTheCallerIsKnownFromTheSecurityContext() {
		SecurityContextHolder.getContext()
			.setAuthentication(UsernamePasswordAuthenticationToken.authenticated("ann", "", List.of()));
		try {
			this.service.perUser();
			assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann");
			this.service.monoPerUser().block();
			assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann");
		}
		finally {
			SecurityContextHolder.clearContext();
		}
		this.service.monoPerUser()
			.contextWrite(ReactiveSecurityContextHolder
				.withAuthentication(UsernamePasswordAuthenticationToken.authenticated("bob", "", List.of())))
			.block();
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "bob");
	}

	@Test
	void outsideOfARequestThePolicySaysWhatAMissingCallerMeans() {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(this.service::perUser)
			.satisfies((ex) -> assertThat(ex.decision().reason()).isEqualTo(Decision.Reason.IDENTITY));
		this.service.perUserOrFree();
		assertThat(this.limiter.last().dimensions()).doesNotContainKey(Dimension.USER);
	}

	@Test
	void methodsThatNoProxyCanCheckFailTheStart() {
		for (Class<?> type : List.of(PrivateMethod.class, StaticMethod.class, FinalMethod.class, FinalOfClass.class,
				FinalClass.class)) {
			assertThatExceptionOfType(BeanCreationException.class).as(type.getSimpleName())
				.isThrownBy(() -> new AnnotationConfigApplicationContext(AopConfiguration.class, type))
				.withStackTraceContaining(
						"@RateLimited on " + type.getSimpleName() + ".call: no proxy can check calls");
		}
	}

	@Test
	void finalMethodBehindAnInterfaceIsLimited() {
		try (AnnotationConfigApplicationContext started = new AnnotationConfigApplicationContext(AopConfiguration.class,
				FinalBehindInterface.class)) {
			started.getBean(Contract.class).call();
			assertThat(started.getBean(RecordedLimiter.class).requests()).hasSize(1);
		}
	}

	@Test
	void beanBehindAnInterfaceIsLimitedOnce() {
		this.context.getBean(Contract.class).call();
		this.context.getBean("repository", Contract.class).call();
		assertThat(this.limiter.requests()).extracting("policy").containsExactly("wide", "wide");
		RateLimitedMethods methods = this.context.getBean(RateLimitedMethods.class);
		assertThat(methods.known()).filteredOn((method) -> method.names("wide"))
			.extracting(RateLimitedMethod::name)
			.doesNotHaveDuplicates()
			.contains("Implementation.call", "Contract.call");
	}

	@Test
	void returnTypeIsTheBeansAndNotTheInterfaces() {
		Source<?> source = this.context.getBean(Source.class);
		assertThat(AopUtils.isJdkDynamicProxy(source)).isTrue();
		Mono<?> mono = (Mono<?>) source.get();
		assertThat(this.limiter.requests()).isEmpty();
		StepVerifier.create(mono).expectNextCount(1).verifyComplete();
		assertThat(this.limiter.requests()).hasSize(1);
	}

	@Test
	void bootKeepsTheClassOfABeanBehindAnInterface() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withUserConfiguration(AopConfiguration.class, Implementation.class)
			.run((started) -> {
				assertThat(AopUtils.isCglibProxy(started.getBean(Implementation.class))).isTrue();
				started.getBean(Implementation.class).call();
				assertThat(started.getBean(RecordedLimiter.class).requests()).hasSize(1);
			});
	}

	@Test
	void wrongExpressionFailsTheStart() {
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> new AnnotationConfigApplicationContext(AopConfiguration.class, Wrong.class))
			.withStackTraceContaining("@RateLimited on Wrong.typo: '#sise' reads #sise");
	}

	static class Service {

		private final AtomicInteger calls = new AtomicInteger();

		static int calls(Service proxy) {
			return proxy.count();
		}

		public int count() {
			return this.calls.get();
		}

		@RateLimited("orders")
		public String plain() {
			return done();
		}

		@RateLimited(policy = "accounts", cost = "#size", key = "#accountId")
		public String perAccount(String accountId, int size) {
			return done();
		}

		@RateLimited(policy = "orders", cost = "2")
		public void fixed() {
		}

		@RateLimited("routes")
		public void byRoute() {
		}

		@RateLimited("users")
		public void perUser() {
		}

		@RateLimited("users")
		public Mono<String> monoPerUser() {
			return Mono.just(done());
		}

		@RateLimited("users-or-free")
		public void perUserOrFree() {
		}

		@RateLimited("closed")
		public void closed() {
		}

		@RateLimited(policy = "orders", cost = "#items.size()")
		public String broken(List<String> items) {
			return done();
		}

		@RateLimited(policy = "accounts", key = "#items.size()")
		public String brokenKey(List<String> items) {
			return done();
		}

		@RateLimited("wide")
		public void fails() throws IOException {
			throw new IOException("own");
		}

		@RateLimited("wide")
		public Mono<String> monoFails() throws IOException {
			throw new IOException("own");
		}

		@RateLimited("wide")
		public CompletableFuture<String> stageFails() {
			return CompletableFuture.failedFuture(new IOException("own"));
		}

		@RateLimited("orders")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedStage(done());
		}

		@RateLimited("orders")
		public Mono<String> mono() {
			return Mono.just(done());
		}

		@RateLimited("orders")
		public Flux<String> flux() {
			return Flux.just("a", "b", "c", "d");
		}

		@RateLimited("orders")
		public Mono<String> contextual() {
			return Mono.deferContextual((context) -> Mono.just(context.get("who")));
		}

		@RateLimited("orders")
		public Mono<String> thread() {
			return Mono.just(Thread.currentThread().getName());
		}

		private String done() {
			this.calls.incrementAndGet();
			return "done";
		}

	}

	@RateLimited("wide")
	static class Outer {

		private final Service service;

		Outer(Service service) {
			this.service = service;
		}

		public void call() {
			this.service.plain();
		}

	}

	static class PrivateMethod {

		@RateLimited("wide")
		public void other() {
		}

		@RateLimited("wide")
		private void call() {
		}

	}

	static class StaticMethod {

		@RateLimited("wide")
		public static void call() {
		}

	}

	static class FinalMethod {

		@RateLimited("wide")
		public final void call() {
		}

	}

	@RateLimited("wide")
	static class FinalOfClass {

		public static void factory() {
		}

		public final void call() {
		}

	}

	@RateLimited("wide")
	static final class FinalClass {

		public void call() {
		}

	}

	static class FinalBehindInterface implements Contract {

		@Override
		public final void call() {
		}

	}

	@RateLimited("wide")
	interface Contract {

		void call();

	}

	@Primary
	static class Implementation implements Contract {

		@Override
		public void call() {
		}

	}

	/** A bean that is a proxy itself, as those of Spring Data are. */
	@Configuration(proxyBeanMethods = false)
	static class Repositories {

		@Bean
		Contract repository() {
			return ProxyFactory.getProxy(Contract.class, (MethodInterceptor) (invocation) -> null);
		}

	}

	interface Source<T> {

		T get();

	}

	static class MonoSource implements Source<Mono<String>> {

		@Override
		@RateLimited("orders")
		public Mono<String> get() {
			return Mono.just("done");
		}

	}

	static class Wrong {

		@RateLimited(policy = "orders", cost = "#sise")
		public void typo(int size) {
		}

	}

}
