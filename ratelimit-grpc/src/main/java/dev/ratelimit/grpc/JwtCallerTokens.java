package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.converter.Converter;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import reactor.core.publisher.Mono;

import dev.ratelimit.background.Futures;

/**
 * Tokens that the application's own decoder verifies, the same one as for HTTP.
 */
final class JwtCallerTokens implements CallerTokens {

	private static final int THREADS = 4;

	private static final int MOST_WAITING = 1_000;

	private final Function<String, CompletableFuture<? extends Principal>> decoder;

	private JwtCallerTokens(Function<String, CompletableFuture<? extends Principal>> decoder) {
		this.decoder = decoder;
	}

	/**
	 * For an application on WebFlux.
	 */
	static CallerTokens reactive(ReactiveJwtDecoder decoder,
			Converter<Jwt, ? extends Mono<? extends AbstractAuthenticationToken>> converter) {
		return new JwtCallerTokens((token) -> decoder.decode(token).flatMap(converter::convert).toFuture());
	}

	/**
	 * For an application on servlets. The decoder may block, so that it never runs on an
	 * event loop.
	 */
	static CallerTokens blocking(JwtDecoder decoder, Converter<Jwt, ? extends AbstractAuthenticationToken> converter) {
		ThreadPoolExecutor threads = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(MOST_WAITING), (task) -> {
					Thread thread = new Thread(task, "ratelimit-grpc-tokens");
					thread.setDaemon(true);
					return thread;
				});
		threads.allowCoreThreadTimeOut(true);
		return new JwtCallerTokens(
				(token) -> CompletableFuture.supplyAsync(() -> converter.convert(decoder.decode(token)), threads));
	}

	@Override
	public CompletableFuture<@Nullable Principal> verify(String token) {
		try {
			return this.decoder.apply(token)
				.handle((principal, failure) -> (failure == null)
						? CompletableFuture.<@Nullable Principal>completedFuture(principal) : failed(failure))
				.thenCompose(Function.identity());
		}
		catch (RejectedExecutionException ex) {
			return CompletableFuture.failedFuture(CallerTokens.notVerified());
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
	}

	private static CompletableFuture<@Nullable Principal> failed(Throwable failure) {
		return CompletableFuture.failedFuture((Futures.cause(failure) instanceof BadJwtException)
				? CallerTokens.invalid() : CallerTokens.notVerified());
	}

}
