package dev.ratelimit.grpc;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.grpc.Channel;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What bounds and observes calls, over a socket: their number, pings, meters.
 */
class GrpcBoundsTests {

	private static final String[] POLICY = { "ratelimit.policies.orders.limits.per-tenant.by=tenant",
			"ratelimit.policies.orders.limits.per-tenant.quota=100/d", "ratelimit.policies.orders.timeout=10m" };

	private static final CheckRequest CHECK = CheckRequest.newBuilder()
		.setPolicy("orders")
		.putDimensions("tenant", "acme")
		.build();

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final int MOST_CALLS = 1_000;

	private static final int PING = 6;

	private static final int GOAWAY = 7;

	private static final int ENHANCE_YOUR_CALM = 0xb;

	@Test
	void connectionHasABoundOfCalls() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), POLICY[0], POLICY[1],
				POLICY[2])) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Channel channel = application.channel();
			List<CompletableFuture<CheckResponse>> answers = IntStream.range(0, MOST_CALLS + 100)
				.mapToObj((i) -> new CompletableFuture<CheckResponse>())
				.toList();
			answers.forEach((answer) -> RateLimiterGrpc.newStub(channel).check(CHECK, new FirstAnswer<>(answer)));
			await().atMost(LONG).until(() -> limiter.waiting() >= MOST_CALLS);
			// Another connection is served meanwhile.
			assertThat(application.client().check(CHECK.toBuilder().setCost(0).build()).getAllowed()).isTrue();
			assertThat(limiter.waiting()).isEqualTo(MOST_CALLS);
			limiter.decideAll();
			assertThat(answers).allSatisfy((answer) -> assertThat(answer).succeedsWithin(LONG));
		}
	}

	@Test
	void clientThatPingsTooOftenIsDisconnected() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(POLICY);
				Socket socket = new Socket("127.0.0.1", application.port())) {
			socket.setSoTimeout((int) LONG.toMillis());
			DataOutputStream out = new DataOutputStream(socket.getOutputStream());
			out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
			frame(out, 4, 0);
			for (int i = 0; i < 10; i++) {
				frame(out, PING, 8);
			}
			out.flush();
			assertThat(goAway(new DataInputStream(socket.getInputStream()))).isEqualTo(ENHANCE_YOUR_CALM);
		}
	}

	private static void frame(DataOutputStream out, int type, int length) throws Exception {
		out.write(new byte[] { 0, 0, (byte) length, (byte) type, 0, 0, 0, 0, 0 });
		out.write(new byte[length]);
	}

	/** The error code of the frame that ends the connection. */
	private static int goAway(DataInputStream in) throws Exception {
		while (true) {
			int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
			int type = in.readUnsignedByte();
			in.readFully(new byte[5]);
			byte[] content = new byte[length];
			in.readFully(content);
			if (type == GOAWAY && content[7] != 0) {
				return content[7];
			}
		}
	}

	@Test
	void callsAreTimed() {
		try (GrpcApplication application = GrpcApplication.start(List.of(Observed.class), POLICY)) {
			application.client().check(CHECK);
			MeterRegistry meters = application.bean(MeterRegistry.class);
			await().atMost(LONG).untilAsserted(() -> {
				Timer timer = meters.find("grpc.server")
					.tag("rpc.method", "Check")
					.tag("grpc.status_code", "OK")
					.timer();
				assertThat(timer).isNotNull();
				assertThat(timer.count()).isOne();
			});
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Observed {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		@Bean
		ObservationRegistry observations(MeterRegistry meters) {
			ObservationRegistry observations = ObservationRegistry.create();
			observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
			return observations;
		}

	}

}
