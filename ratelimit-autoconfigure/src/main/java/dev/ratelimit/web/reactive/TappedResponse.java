package dev.ratelimit.web.reactive;

import java.util.List;
import java.util.Optional;

import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

import dev.ratelimit.Settling;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CostTap;

/**
 * A response whose body may name the true cost of its request. It reads along and passes
 * every buffer on at once. If the head names the cost, the body is not read. Several of
 * these may decorate one response; the innermost reads it.
 */
public class TappedResponse extends ServerHttpResponseDecorator {

	private static final String READ = TappedResponse.class.getName() + ".read";

	private final ServerWebExchange exchange;

	public TappedResponse(ServerWebExchange exchange) {
		super(exchange.getResponse());
		this.exchange = exchange;
	}

	protected final ServerWebExchange exchange() {
		return this.exchange;
	}

	/**
	 * The value of a trailer, after the body has ended; empty if there is none.
	 */
	protected Mono<String> trailer(String name) {
		return Mono.empty();
	}

	@Override
	public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
		List<CostTap> taps = taps();
		return taps.isEmpty() ? super.writeWith(body)
				: super.writeWith(tapped(body, taps)).doFinally((signal) -> end(taps, signal));
	}

	@Override
	public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
		List<CostTap> taps = taps();
		return taps.isEmpty() ? super.writeAndFlushWith(body)
				: super.writeAndFlushWith(Flux.from(body).map((part) -> tapped(part, taps)))
					.doFinally((signal) -> end(taps, signal));
	}

	private static Flux<DataBuffer> tapped(Publisher<? extends DataBuffer> body, List<CostTap> taps) {
		return Flux.<DataBuffer>from(body).doOnNext((buffer) -> taps.forEach((tap) -> read(buffer, tap)));
	}

	private static void read(DataBuffer buffer, CostTap tap) {
		try (DataBuffer.ByteBufferIterator parts = buffer.readableByteBuffers()) {
			parts.forEachRemaining(tap::read);
		}
	}

	private List<CostTap> taps() {
		CallDecisions decisions = this.exchange.getAttribute(CallDecisions.ATTRIBUTE);
		if (decisions == null || this.exchange.getAttributes().putIfAbsent(READ, true) != null) {
			return List.of();
		}
		return CostTap.of(decisions, (settling) -> ExchangeDecisions.cost(settling, getDelegate()),
				getHeaders().getFirst("Content-Type"), getHeaders().getFirst("Content-Encoding"));
	}

	private void end(List<CostTap> taps, SignalType signal) {
		boolean complete = signal == SignalType.ON_COMPLETE;
		for (CostTap tap : taps) {
			String header = tap.settling().header();
			Mono<String> trailer = (header != null) ? trailer(header) : Mono.empty();
			trailer.mapNotNull(Settling::cost)
				.singleOptional()
				.onErrorComplete()
				.defaultIfEmpty(Optional.empty())
				.subscribe((cost) -> tap.end(cost.orElse(null), complete));
		}
	}

}
