package dev.ratelimit.grpc;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import com.google.gson.Gson;
import com.google.protobuf.Message;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.config.bootstrap.v3.Bootstrap;
import io.envoyproxy.envoy.config.route.v3.VirtualHost;
import io.envoyproxy.envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication;
import io.envoyproxy.envoy.extensions.filters.http.ratelimit.v3.RateLimit;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The samples for Envoy and Istio are what Envoy reads: unknown fields are errors.
 */
class EnvoySamplesTests {

	private static final Path FOLDER = Path.of("..", "config-samples", "envoy");

	private static final JsonFormat.Parser PARSER = JsonFormat.parser()
		.usingTypeRegistry(TypeRegistry.newBuilder()
			.add(List.of(HttpConnectionManager.getDescriptor(), JwtAuthentication.getDescriptor(),
					RateLimit.getDescriptor(), Router.getDescriptor(), HttpProtocolOptions.getDescriptor(),
					UpstreamTlsContext.getDescriptor()))
			.build());

	@Test
	void envoyReadsItsSample() throws Exception {
		Bootstrap.Builder bootstrap = Bootstrap.newBuilder();
		merge(read("envoy.yaml"), bootstrap);
		HttpConnectionManager manager = bootstrap.getStaticResources()
			.getListeners(0)
			.getFilterChains(0)
			.getFilters(0)
			.getTypedConfig()
			.unpack(HttpConnectionManager.class);
		RateLimit filter = manager.getHttpFilters(1).getTypedConfig().unpack(RateLimit.class);
		assertThat(filter.getDomain()).isEqualTo("edge");
		assertThat(bootstrap.getStaticResources().getClustersList())
			.anySatisfy((cluster) -> assertThat(cluster.getName())
				.isEqualTo(filter.getRateLimitService().getGrpcService().getEnvoyGrpc().getClusterName()));
	}

	@Test
	@SuppressWarnings("unchecked")
	void envoyReadsThePatchesOfTheSampleForIstio() throws Exception {
		Map<String, Object> spec = (Map<String, Object>) read("istio-envoyfilter.yaml").get("spec");
		List<Map<String, Object>> patches = (List<Map<String, Object>>) spec.get("configPatches");
		HttpFilter.Builder filter = HttpFilter.newBuilder();
		merge(value(patches.get(0)), filter);
		assertThat(filter.getTypedConfig().unpack(RateLimit.class).getDomain()).isEqualTo("edge");
		VirtualHost.Builder host = VirtualHost.newBuilder();
		merge(value(patches.get(1)), host);
		assertThat(host.getRateLimitsCount()).isEqualTo(2);
	}

	@Test
	void applicationStartsWithItsSample() {
		try (GrpcApplication application = GrpcApplication
			.start("spring.config.additional-location=file:" + FOLDER.resolve("application.yml"))) {
			assertThat(application.port()).isPositive();
			assertThat(application.bean(GrpcProperties.class).envoy().domains()).containsOnlyKeys("edge");
		}
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> value(Map<String, Object> patch) {
		return (Map<String, Object>) ((Map<String, Object>) patch.get("patch")).get("value");
	}

	private static Map<String, Object> read(String file) throws Exception {
		return new Yaml().load(Files.readString(FOLDER.resolve(file)));
	}

	private static void merge(Map<String, Object> yaml, Message.Builder message) throws Exception {
		PARSER.merge(new Gson().toJson(yaml), message);
	}

}
