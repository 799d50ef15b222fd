package dev.ratelimit.app.fault;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.data.redis.ClientResourcesBuilderCustomizer;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Enforcement;
import dev.ratelimit.app.RateLimitGatewayApplication;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.NodeListener;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisSentinels;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.web.ApiKeyVerifier;

/**
 * The real gateway in this JVM, with routes that have no upstream and policies of the
 * case's own. Several can run beside each other, and be closed one by one.
 */
final class Gateway implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private final List<String> policies;

	private Gateway(ConfigurableApplicationContext context, List<String> policies) {
		this.context = context;
		this.policies = policies;
	}

	static Settings on(RedisServer redis) {
		return new Settings("host=" + redis.host(), "port=" + redis.port());
	}

	static Settings on(RedisCluster redis) {
		return new Settings("cluster.nodes=" + nodes(redis.uris()));
	}

	static Settings on(RedisSentinels redis) {
		return new Settings("sentinel.master=" + redis.masterId(),
				"sentinel.nodes=" + nodes(redis.uri().getSentinels()));
	}

	/** One route for each policy. */
	List<Target> targets() {
		return this.policies.stream()
			.map((policy) -> new Target(policy, uri("local.server.port", "/" + policy)))
			.toList();
	}

	URI management(String path) {
		return uri("local.management.port", path);
	}

	ApplicationContext context() {
		return this.context;
	}

	@Override
	public void close() {
		this.context.close();
	}

	private URI uri(String port, String path) {
		return URI.create("http://127.0.0.1:" + this.context.getEnvironment().getRequiredProperty(port) + path);
	}

	private static String nodes(List<RedisURI> uris) {
		return uris.stream().map((uri) -> uri.getHost() + ":" + uri.getPort()).collect(Collectors.joining(","));
	}

	/** What a case says of its gateways. */
	static final class Settings {

		private final List<String> properties = new ArrayList<>();

		private final List<DecisionListener> listeners = new ArrayList<>();

		private Map<HostAndPort, HostAndPort> detours = Map.of();

		private List<String> policies = List.of("fault");

		private List<String> profiles = List.of("fault");

		private int instances = 1;

		private Settings(String... redis) {
			add("spring.data.redis.", redis);
		}

		/**
		 * Settings of the policy, for example {@code "on-failure=allow",
		 * "limits.per-tenant.by=tenant"}.
		 */
		Settings policy(String... settings) {
			return add("ratelimit.policies.fault.", settings);
		}

		/** One policy for each failure mode instead of a single one. */
		Settings modes(Enforcement enforcement) {
			this.policies = Stream.of("allow", "deny", "local").map("fault-"::concat).toList();
			this.profiles = List.of("fault", "fault-modes");
			this.policies.forEach((policy) -> add("ratelimit.policies." + policy,
					".enforcement=" + enforcement.name().toLowerCase(Locale.ROOT)));
			return this;
		}

		Settings properties(String... properties) {
			return add("", properties);
		}

		/** Lets this see every decision too. */
		Settings listener(DecisionListener listener) {
			this.listeners.add(listener);
			return this;
		}

		Settings instances(int instances) {
			this.instances = instances;
			return this;
		}

		/**
		 * Connects to what is behind these proxies only through them, also where a
		 * cluster or Sentinels announce the address.
		 */
		Settings through(ChaosProxy... proxies) {
			this.detours = Stream.of(proxies)
				.collect(Collectors.toMap(
						(proxy) -> HostAndPort.of(proxy.target().getHostString(), proxy.target().getPort()),
						(proxy) -> HostAndPort.of(proxy.host(), proxy.port())));
			return this;
		}

		List<Gateway> start(DecisionListener decisions, BreakerListener breakers) {
			return IntStream.range(0, this.instances).mapToObj((number) -> startOne(decisions, new NodeListener() {

				@Override
				public void changed(String node, BreakerState state) {
					breakers.changed(number, node, state);
				}

			})).toList();
		}

		private Gateway startOne(DecisionListener decisions, NodeListener nodes) {
			return new Gateway(new SpringApplicationBuilder(RateLimitGatewayApplication.class)
				.profiles(this.profiles.toArray(String[]::new))
				.bannerMode(Banner.Mode.OFF)
				.initializers((context) -> register((GenericApplicationContext) context, decisions, nodes))
				.run(this.properties.stream().map("--"::concat).toArray(String[]::new)), this.policies);
		}

		private void register(GenericApplicationContext context, DecisionListener decisions, NodeListener nodes) {
			context.registerBean(DecisionListener.class, () -> decisions);
			this.listeners.forEach((further) -> context.registerBean("further-" + this.listeners.indexOf(further),
					DecisionListener.class, () -> further));
			context.registerBean(NodeListener.class, () -> nodes);
			context.registerBean(ApiKeyVerifier.class,
					() -> (key) -> CompletableFuture.completedFuture(new ApiKeyVerifier.VerifiedKey(key, null)));
			context.registerBean(ReactorResourceFactory.class, Settings::ownEventLoops);
			if (!this.detours.isEmpty()) {
				context.registerBean(ClientResourcesBuilderCustomizer.class, this::detour);
			}
		}

		private ClientResourcesBuilderCustomizer detour() {
			return (resources) -> resources.socketAddressResolver(MappingSocketAddressResolver
				.create(DnsResolvers.UNRESOLVED, (address) -> this.detours.getOrDefault(address, address)));
		}

		/** Else the first gateway to be closed would stop the event loops of all. */
		private static ReactorResourceFactory ownEventLoops() {
			ReactorResourceFactory resources = new ReactorResourceFactory();
			resources.setUseGlobalResources(false);
			resources.setShutdownQuietPeriod(Duration.ZERO);
			return resources;
		}

		private Settings add(String prefix, String... properties) {
			Stream.of(properties).map(prefix::concat).forEach(this.properties::add);
			return this;
		}

	}

	/** Sees the breakers of all gateways. */
	@FunctionalInterface
	interface BreakerListener {

		void changed(int gateway, String node, BreakerState state);

	}

}
