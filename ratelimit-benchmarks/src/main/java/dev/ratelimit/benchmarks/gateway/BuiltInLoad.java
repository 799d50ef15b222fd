package dev.ratelimit.benchmarks.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.HttpConnections;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * Load where there is no wrk: each answer sends the next request. Requests are encoded
 * ahead.
 */
final class BuiltInLoad implements HttpLoad {

	/** No gateway takes this long, unless it has lost an answer. */
	private static final Duration LOST = Duration.ofSeconds(60);

	private final HttpConnections http;

	private final int connections;

	BuiltInLoad(int port, int connections) {
		this.http = new HttpConnections(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), connections);
		this.connections = connections;
	}

	@Override
	public Result run(Route route, Duration duration) {
		return new Run(requests(route.path(), route.callers()), duration).await();
	}

	/** One request of each caller. */
	static ByteBuf[] requests(String path, int callers) {
		ByteBuf[] requests = new ByteBuf[callers];
		for (int i = 0; i < requests.length; i++) {
			byte[] text = String.format(
					"GET %s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.%d.%d\r\nX-API-Key: sk_test_%08d\r\n\r\n",
					path, i >> 8, i & 0xff, i)
				.getBytes(StandardCharsets.US_ASCII);
			requests[i] = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(text));
		}
		return requests;
	}

	@Override
	public void close() {
		this.http.close();
	}

	@Override
	public String toString() {
		return "built-in load (install wrk for less)";
	}

	/** One run; only the thread of the connections changes it. */
	private final class Run {

		private final ByteBuf[] requests;

		private final SplittableRandom random = new SplittableRandom();

		private final Tally tally = new Tally();

		private final CountDownLatch running = new CountDownLatch(BuiltInLoad.this.connections);

		private final long start = System.nanoTime();

		private final long nanos;

		Run(ByteBuf[] requests, Duration duration) {
			this.requests = requests;
			this.nanos = duration.toNanos();
			// All drawn before the other thread draws.
			Stream.generate(this::next).limit(BuiltInLoad.this.connections).toList().forEach(this::send);
		}

		private void send(ByteBuf request) {
			long sent = System.nanoTime();
			BuiltInLoad.this.http.send(request, (outcome) -> answered(sent, outcome));
		}

		private ByteBuf next() {
			return this.requests[this.random.nextInt(this.requests.length)].duplicate();
		}

		private void answered(long sent, Contender.Outcome outcome) {
			long now = System.nanoTime();
			this.tally.add(now - sent, outcome);
			if (now - this.start >= this.nanos) {
				this.running.countDown();
			}
			else {
				send(next());
			}
		}

		Result await() {
			try {
				if (!this.running.await(this.nanos + LOST.toNanos(), TimeUnit.NANOSECONDS)) {
					throw new IllegalStateException(this.running.getCount() + " connections got no answer");
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			return new Result(this.tally.checks(), this.tally.checks() - this.tally.count(Contender.Outcome.ALLOWED),
					(System.nanoTime() - this.start) / 1e9, this.tally.micros(50), this.tally.micros(99));
		}

	}

}
