package dev.ratelimit.app.demo;

import java.net.InetSocketAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.embedded.netty.NettyWebServer;
import org.springframework.boot.web.reactive.context.ReactiveWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.test.util.ReflectionTestUtils;
import reactor.netty.DisposableServer;

import dev.ratelimit.app.RateLimitGatewayApplication;

import static org.assertj.core.api.Assertions.assertThat;

class DemoLoopbackTests {

	@Test
	void gatewayOfTheDemoListensOnThisHostOnly() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(RateLimitGatewayApplication.class)
			.run("--spring.profiles.active=demo", "--server.port=0", "--management.server.port=0",
					"--server.address=0.0.0.0")) {
			NettyWebServer server = (NettyWebServer) ((ReactiveWebServerApplicationContext) context).getWebServer();
			DisposableServer socket = (DisposableServer) ReflectionTestUtils.getField(server, "disposableServer");
			assertThat(socket).isNotNull();
			assertThat(((InetSocketAddress) socket.address()).getAddress().isLoopbackAddress()).isTrue();
		}
	}

	@ParameterizedTest
	@CsvSource({ "demo,false,8081,127.0.0.1,127.0.0.1", "demo,true,8081,,", ",false,8081,,",
			"demo,false,8080,127.0.0.1,", "demo,false,-1,127.0.0.1," })
	void addressesAreThoseOfThisHostUnlessOpened(String profile, String remote, String managementPort, String server,
			String management) {
		MockEnvironment environment = new MockEnvironment().withProperty("server.port", "8080")
			.withProperty("management.server.port", managementPort)
			.withProperty("ratelimit.demo.remote", remote);
		if (profile != null) {
			environment.setActiveProfiles(profile);
		}
		new DemoLoopback().postProcessEnvironment(environment, new SpringApplication());
		assertThat(environment.getProperty("server.address")).isEqualTo(server);
		assertThat(environment.getProperty("management.server.address")).isEqualTo(management);
	}

}
