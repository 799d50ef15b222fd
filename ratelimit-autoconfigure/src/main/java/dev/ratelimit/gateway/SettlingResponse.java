package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.http.client.HttpClientResponse;

import dev.ratelimit.Decision;
import dev.ratelimit.Settling;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CostReader;
import dev.ratelimit.web.reactive.ExchangeDecisions;

/**
 * A response whose body may name the true cost of its request. It reads along and passes
 * every buffer on at once. If the head names the cost, the body is not read.
 */
final class SettlingResponse extends ServerHttpResponseDecorator {

	private static final String ACCEPT_ENCODING = "Accept-Encoding";

	/** Without a weight, or with one above 0. */
	private static final Pattern GZIP = Pattern
		.compile("\\s*(x-)?gzip\\s*(;\\s*q\\s*=\\s*(1(\\.0*)?|0\\.\\d*[1-9]\\d*)\\s*)?");

	private final ServerWebExchange exchange;

	SettlingResponse(ServerWebExchange exchange) {
		super(exchange.getResponse());
		this.exchange = exchange;
	}

	/**
	 * The exchange, with a request that asks the upstream for a body that can be read: a
	 * caller must not escape its true cost by an encoding of its choice.
	 */
	static ServerWebExchange readable(ServerWebExchange exchange) {
		CallDecisions decisions = exchange.getAttribute(CallDecisions.ATTRIBUTE);
		List<String> accepted = exchange.getRequest().getHeaders().getOrEmpty(ACCEPT_ENCODING);
		if (decisions == null || accepted.isEmpty()
				|| decisions.settling().stream().noneMatch(SettlingResponse::isRead)) {
			return exchange;
		}
		String encoding = acceptsGzip(accepted) ? "gzip" : "identity";
		return exchange.mutate()
			.request((request) -> request.headers((headers) -> headers.set(ACCEPT_ENCODING, encoding)))
			.build();
	}

	/** Whether the caller names gzip and does not refuse it by a weight of 0. */
	private static boolean acceptsGzip(List<String> accepted) {
		return Arrays.stream(String.join(",", accepted).toLowerCase(Locale.ROOT).split(","))
			.anyMatch((coding) -> GZIP.matcher(coding).matches());
	}

	private static boolean isRead(Decision decision) {
		Settling settling = decision.receipt().settling();
		return settling != null && !settling.json().isEmpty();
	}

	@Override
	public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
		List<Tap> taps = taps();
		return taps.isEmpty() ? super.writeWith(body) : super.writeWith(tapped(body, taps))
			.doFinally((signal) -> taps.forEach((tap) -> tap.end(signal == SignalType.ON_COMPLETE)));
	}

	@Override
	public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
		List<Tap> taps = taps();
		return taps.isEmpty() ? super.writeAndFlushWith(body)
				: super.writeAndFlushWith(Flux.from(body).map((part) -> tapped(part, taps)))
					.doFinally((signal) -> taps.forEach((tap) -> tap.end(signal == SignalType.ON_COMPLETE)));
	}

	private static Flux<DataBuffer> tapped(Publisher<? extends DataBuffer> body, List<Tap> taps) {
		return Flux.<DataBuffer>from(body).doOnNext((buffer) -> taps.forEach((tap) -> tap.read(buffer)));
	}

	/** One for each decision that the head does not settle. */
	private List<Tap> taps() {
		CallDecisions decisions = this.exchange.getAttribute(CallDecisions.ATTRIBUTE);
		if (decisions == null) {
			return List.of();
		}
		List<Tap> taps = new ArrayList<>(1);
		for (Decision decision : decisions.settling()) {
			Settling settling = decision.receipt().settling();
			if (settling != null && ExchangeDecisions.cost(settling, getDelegate()) == null) {
				taps.add(new Tap(decisions, decision, settling));
			}
		}
		return taps;
	}

	/**
	 * Looks for the true cost of one decision.
	 */
	private final class Tap {

		private final CallDecisions decisions;

		private final Decision decision;

		private final Settling settling;

		private final @Nullable CostReader reader;

		Tap(CallDecisions decisions, Decision decision, Settling settling) {
			this.decisions = decisions;
			this.decision = decision;
			this.settling = settling;
			this.reader = settling.json().isEmpty() ? null : CostReader.of(settling.json(),
					getHeaders().getFirst("Content-Type"), getHeaders().getFirst("Content-Encoding"));
		}

		void read(DataBuffer buffer) {
			if (this.reader != null) {
				try (DataBuffer.ByteBufferIterator parts = buffer.readableByteBuffers()) {
					parts.forEachRemaining(this.reader::read);
				}
			}
		}

		/**
		 * The response has ended.
		 * @param complete whether all of it was sent
		 */
		void end(boolean complete) {
			String header = this.settling.header();
			Object response = SettlingResponse.this.exchange.getAttribute(ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR);
			if (header != null && response instanceof HttpClientResponse upstream) {
				upstream.trailerHeaders()
					.mapNotNull((trailers) -> Settling.cost(trailers.get(header)))
					.singleOptional()
					.onErrorComplete()
					.defaultIfEmpty(Optional.empty())
					.subscribe((cost) -> settle(cost.orElse(null), complete));
			}
			else {
				settle(null, complete);
			}
		}

		/** By the trailer, else by the body. */
		private void settle(@Nullable Long trailer, boolean complete) {
			Long cost = trailer;
			try (CostReader reader = this.reader) {
				cost = (cost == null && reader != null) ? reader.cost(this.decisions.estimate(this.decision), complete)
						: cost;
			}
			if (cost != null) {
				this.decisions.settle(this.decision, cost);
			}
			else {
				this.decision.receipt().costUnknown();
			}
		}

	}

}
