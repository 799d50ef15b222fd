package dev.ratelimit.benchmarks.gateway;

import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ProfileTests {

	@Test
	void sampleUnderAFrameOfOursIsOurs() {
		Profile profile = profile(
				"[reactor-http-epoll-1 tid=1];io/netty/Loop.run;dev/ratelimit/limiter/Check.decide;"
						+ "java/util/HashMap.get 3",
				"[reactor-http-epoll-1 tid=1];io/netty/Loop.run;java/lang/String.equals 1");
		assertThat(profile.samples()).isEqualTo(4);
		assertThat(profile.ours()).isEqualTo(0.75);
		assertThat(profile.classes()).containsExactly(Map.entry("limiter/Check", 0.75));
	}

	@Test
	void restOfTheGatewayThatOurFilterCallsIsNotOurs() {
		assertThat(profile("[t];dev/ratelimit/gateway/Filter.filter;"
				+ "org/springframework/cloud/gateway/handler/FilteringWebHandler$DefaultGatewayFilterChain.filter;"
				+ "java/util/List.get 1",
				"[t];dev/ratelimit/redis/Call.complete;reactor/core/publisher/MonoDefer.subscribe;"
						+ "reactor/netty/http/client/HttpClientConnect.subscribe 1",
				"[t];dev/ratelimit/web/reactive/QueuedRequests.lambda$0;"
						+ "org/springframework/web/server/adapter/HttpWebHandlerAdapter.handle;java/util/Map.put 1")
			.ours()).isZero();
	}

	@Test
	void callOfTheGatewayIntoOurFilterIsOurs() {
		assertThat(profile("[t];reactor/netty/http/server/HttpServerOperations.onInboundNext;"
				+ "org/springframework/cloud/gateway/handler/FilteringWebHandler.handle;"
				+ "dev/ratelimit/web/Headers.write;io/netty/handler/codec/http/DefaultHttpHeaders.set 1")
			.ours()).isEqualTo(1);
	}

	@Test
	void benchmarkItselfIsNotOurs() {
		assertThat(profile("[t];dev/ratelimit/benchmarks/gateway/GatewayApplication.lambda$0 1").ours()).isZero();
	}

	@Test
	void lettucesThreadsCountUnlessOurCodeRunsOnThem() {
		Profile profile = profile("[lettuce-epollEventLoop-4-1 tid=2];io/lettuce/Decode.read 1",
				"[lettuce-epollEventLoop-4-1 tid=2];io/lettuce/Decode.read;dev/ratelimit/redis/Reply.read 1");
		assertThat(profile.lettuce()).isEqualTo(0.5);
		assertThat(profile.ours()).isEqualTo(0.5);
	}

	private static Profile profile(String... stacks) {
		return Profile.of(0, Stream.of(stacks));
	}

}
