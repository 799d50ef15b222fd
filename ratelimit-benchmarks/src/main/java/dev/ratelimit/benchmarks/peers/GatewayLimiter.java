package dev.ratelimit.benchmarks.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.RedisURI;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.scripting.support.ResourceScriptSource;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * Spring Cloud Gateway's own limiter, without the gateway. The burst is no smaller than
 * the rate: with a smaller burst it stores nothing and looks fast.
 */
final class GatewayLimiter implements Contender {

	private static final String ROUTE = "route";

	private static final ClassPathResource SCRIPT = new ClassPathResource("META-INF/scripts/request_rate_limiter.lua");

	private final LettuceConnectionFactory factory;

	private final RedisRateLimiter limiter;

	private final String[] names;

	GatewayLimiter(RedisURI uri, RedisScript<List<Long>> script, Keys keys) {
		this.factory = new LettuceConnectionFactory(uri.getHost(), uri.getPort());
		this.factory.afterPropertiesSet();
		this.factory.start();
		this.limiter = limiter(new ReactiveStringRedisTemplate(this.factory), script);
		this.limiter.getConfig()
			.put(ROUTE, new RedisRateLimiter.Config().setReplenishRate(keys.busy() ? 1_000_000 : 1)
				.setBurstCapacity(keys.busy() ? 1_000_000 : 1_440));
		this.names = keys.names("user-");
	}

	/** The script as the gateway's auto-configuration makes it. */
	static RedisScript<List<Long>> stockScript() {
		DefaultRedisScript<List<Long>> script = new DefaultRedisScript<>();
		script.setScriptSource(new ResourceScriptSource(SCRIPT));
		script.setResultType(listOfLongs());
		return script;
	}

	/** The same text, read once. */
	static RedisScript<List<Long>> staticScript() {
		try {
			String text = SCRIPT.getContentAsString(StandardCharsets.UTF_8);
			return new StaticScript(text, DigestUtils.sha1DigestAsHex(text));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@SuppressWarnings("NullAway") // What is null would read the configuration of routes.
	private static RedisRateLimiter limiter(ReactiveStringRedisTemplate template, RedisScript<List<Long>> script) {
		return new RedisRateLimiter(template, script, null);
	}

	@SuppressWarnings("unchecked")
	private static Class<List<Long>> listOfLongs() {
		return (Class<List<Long>>) (Class<?>) List.class;
	}

	@Override
	public void check(int key, Answer answer) {
		this.limiter.isAllowed(ROUTE, this.names[key])
			.subscribe((response) -> answer.complete(outcome(response)), (failure) -> answer.complete(Outcome.FAILED));
	}

	/** It hides errors behind "allowed, -1 remaining". */
	private static Outcome outcome(RateLimiter.Response response) {
		return "-1".equals(response.getHeaders().get(RedisRateLimiter.REMAINING_HEADER)) ? Outcome.FAILED
				: Outcome.of(response.isAllowed());
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

	private record StaticScript(String text, String sha) implements RedisScript<List<Long>> {

		@Override
		public String getSha1() {
			return this.sha;
		}

		@Override
		public Class<List<Long>> getResultType() {
			return listOfLongs();
		}

		@Override
		public String getScriptAsString() {
			return this.text;
		}

	}

}
