package dev.ratelimit.grpc;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.grpc.BindableService;
import io.grpc.Channel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Services of the application whose methods are limited by an annotation.
 */
@ExtendWith(OutputCaptureExtension.class)
class AnnotatedServiceTests {

	private static final String[] PROPERTIES = { "ratelimit.grpc.enabled=false",
			"ratelimit.policies.orders.limits.all.by=route", "ratelimit.policies.orders.limits.all.quota=4/d",
			"ratelimit.policies.strict.limits.all.by=route", "ratelimit.policies.strict.limits.all.quota=1/d" };

	@Test
	void callIsChargedOnceThoughTheServiceHasAProxy() throws Exception {
		try (GrpcApplication application = start(List.of(OnMethods.class))) {
			assertThat(AopUtils.isAopProxy(application.bean(BindableService.class))).isTrue();
			// The cost of the annotation is 2.
			assertThat(codes(application, true, 3)).containsExactly(Status.Code.OK, Status.Code.OK,
					Status.Code.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void annotationOfTheClassHoldsForAllMethods() throws Exception {
		try (GrpcApplication application = start(List.of(OnClass.class))) {
			assertThat(codes(application, true, 5)).endsWith(Status.Code.OK, Status.Code.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void settingTakesThePlaceOfTheAnnotation() throws Exception {
		try (GrpcApplication application = start(List.of(OnMethods.class),
				"ratelimit.grpc.methods[grpc.health.v1.Health/Check]=strict")) {
			assertThat(codes(application, true, 2)).containsExactly(Status.Code.OK, Status.Code.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void proxyLimitsCallsOfAServerWithoutTheInterceptor() throws Exception {
		try (GrpcApplication application = start(List.of(OnMethods.class))) {
			assertThat(codes(application, false, 3)).containsExactly(Status.Code.OK, Status.Code.OK,
					Status.Code.UNKNOWN);
		}
	}

	@Test
	void annotationThatNeedsTheArgumentsIsLeftToTheProxy(CapturedOutput output) throws Exception {
		try (GrpcApplication application = start(List.of(ByKey.class))) {
			assertThat(output)
				.containsOnlyOnce("@RateLimited on KeyService.check: the proxy of the bean limits the method");
			assertThat(codes(application, true, 5)).endsWith(Status.Code.OK, Status.Code.UNKNOWN);
		}
	}

	@Test
	void overloadThatServesNoCallsIsNotRead(CapturedOutput output) throws Exception {
		try (GrpcApplication application = start(List.of(Overloaded.class))) {
			assertThat(output).doesNotContain("the proxy of the bean limits");
			assertThat(codes(application, true, 3)).containsOnly(Status.Code.OK);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void otherMethodsOfTheServiceAreLimitedDuringALimitedCall(boolean overload) throws Exception {
		try (GrpcApplication application = start(List.of(Selfish.class))) {
			application.bean(Selfish.class).overload = overload;
			assertThat(codes(application, true, 2)).containsExactly(Status.Code.OK, Status.Code.UNKNOWN);
		}
	}

	@Test
	void otherServiceWithAMethodOfTheSameNameIsLimitedDuringALimitedCall() throws Exception {
		try (GrpcApplication application = start(List.of(TwoServices.class))) {
			assertThat(codes(application, application.bean(SelfishService.class), true, 2))
				.containsExactly(Status.Code.OK, Status.Code.UNKNOWN);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { TestTokens.SeveralReactive.class, TestTokens.SeveralBlocking.class })
	void severalDecodersWithoutAPrimaryOneFailTheStart(Class<?> decoders) {
		assertThat(GrpcApplication.failure(List.of(OnMethods.class, decoders), PROPERTIES))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("@RateLimited limits the gRPC method 'grpc.health.v1.Health/Check'")
			.hasMessageContaining("@Primary");
	}

	private static GrpcApplication start(List<Class<?>> beans, String... more) {
		List<String> all = new ArrayList<>(List.of(PROPERTIES));
		all.addAll(List.of(more));
		return GrpcApplication.start(beans, all.toArray(String[]::new));
	}

	private static List<Status.Code> codes(GrpcApplication application, boolean intercepted, int calls)
			throws Exception {
		return codes(application, application.bean(BindableService.class), intercepted, calls);
	}

	private static List<Status.Code> codes(GrpcApplication application, BindableService service, boolean intercepted,
			int calls) throws Exception {
		NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
			.addService(service);
		if (intercepted) {
			builder.intercept(application.bean(RateLimitServerInterceptor.class));
		}
		Server server = builder.build().start();
		try {
			Channel channel = application
				.channel(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext());
			return IntStream.range(0, calls).mapToObj((i) -> code(channel)).toList();
		}
		finally {
			server.shutdownNow();
		}
	}

	private static Status.Code code(Channel channel) {
		StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
				() -> HealthGrpc.newBlockingStub(channel)
					.withDeadlineAfter(60, TimeUnit.SECONDS)
					.check(HealthCheckRequest.getDefaultInstance()));
		return (failure != null) ? failure.getStatus().getCode() : Status.Code.OK;
	}

	private static void serve(StreamObserver<HealthCheckResponse> observer) {
		observer.onNext(HealthCheckResponse.newBuilder().setStatus(ServingStatus.SERVING).build());
		observer.onCompleted();
	}

	@Configuration(proxyBeanMethods = false)
	static class OnMethods {

		@Bean
		MethodService service() {
			return new MethodService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnClass {

		@Bean
		ClassService service() {
			return new ClassService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ByKey {

		@Bean
		KeyService service() {
			return new KeyService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Overloaded {

		@Bean
		OverloadedService service() {
			return new OverloadedService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Selfish {

		private volatile boolean overload;

		@Bean
		SelfishService service(ObjectProvider<SelfishService> self) {
			return new SelfishService((id) -> {
				if (this.overload) {
					self.getObject().check(id);
				}
				else {
					self.getObject().row(id);
				}
			});
		}

	}

	/** Each call of one is a call of the other. */
	@Configuration(proxyBeanMethods = false)
	static class TwoServices {

		@Bean
		SelfishService service(OtherService other) {
			return new SelfishService((id) -> other.check(CheckRequest.getDefaultInstance(), new FirstAnswer<>()));
		}

		@Bean
		OtherService other() {
			return new OtherService();
		}

	}

	static class OtherService extends RateLimiterGrpc.RateLimiterImplBase {

		@Override
		@RateLimited("strict")
		public void check(CheckRequest request, StreamObserver<CheckResponse> observer) {
			observer.onCompleted();
		}

	}

	static class OverloadedService extends HealthGrpc.HealthImplBase {

		@Override
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			serve(observer);
		}

		@RateLimited(policy = "strict", key = "#p0")
		public void check(String id) {
		}

	}

	static class SelfishService extends HealthGrpc.HealthImplBase {

		private final Consumer<String> during;

		SelfishService(Consumer<String> during) {
			this.during = during;
		}

		@Override
		@RateLimited("orders")
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			this.during.accept("1");
			serve(observer);
		}

		@RateLimited("strict")
		public void check(String id) {
		}

		@RateLimited("strict")
		public void row(String id) {
		}

	}

	static class MethodService extends HealthGrpc.HealthImplBase {

		@Override
		@RateLimited(policy = "orders", cost = "2")
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			serve(observer);
		}

	}

	@RateLimited("orders")
	static class ClassService extends HealthGrpc.HealthImplBase {

		@Override
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			serve(observer);
		}

	}

	static class KeyService extends HealthGrpc.HealthImplBase {

		@Override
		@RateLimited(policy = "orders", key = "#p0.service")
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			serve(observer);
		}

	}

}
