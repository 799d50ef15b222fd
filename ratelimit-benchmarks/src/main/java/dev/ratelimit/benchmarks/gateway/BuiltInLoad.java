package dev.ratelimit.benchmarks.gateway;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import org.HdrHistogram.Histogram;

/**
 * Load where there is no wrk. Requests are encoded ahead and one thread does everything,
 * so that the load costs the machine little.
 */
final class BuiltInLoad implements HttpLoad {

	private static final long MAX_NANOS = 120_000_000_000L;

	/** No gateway takes this long, unless it has lost an answer. */
	private static final Duration LOST = Duration.ofSeconds(30);

	private final NioEventLoopGroup group = new NioEventLoopGroup(1);

	private final int port;

	private final int connections;

	BuiltInLoad(int port, int connections) {
		this.port = port;
		this.connections = connections;
	}

	@Override
	public Result run(Route route, Duration duration) {
		Run run = new Run(requests(route.path(), route.callers()), duration);
		Bootstrap bootstrap = new Bootstrap().group(this.group)
			.channel(NioSocketChannel.class)
			.handler(new ChannelInitializer<>() {

				@Override
				protected void initChannel(Channel channel) {
					channel.pipeline().addLast(new HttpResponseDecoder(), new Connection(run));
				}

			});
		for (int i = 0; i < this.connections; i++) {
			bootstrap.connect("127.0.0.1", this.port).syncUninterruptibly();
		}
		return run.await();
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
		this.group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
	}

	@Override
	public String toString() {
		return "built-in load (install wrk for less)";
	}

	/** One run; only the event loop's thread changes it. */
	private final class Run {

		private final ByteBuf[] requests;

		private final SplittableRandom random = new SplittableRandom();

		private final Histogram latencies = new Histogram(MAX_NANOS, 3);

		private final CountDownLatch open = new CountDownLatch(BuiltInLoad.this.connections);

		private final long start = System.nanoTime();

		private final long nanos;

		private long failed;

		Run(ByteBuf[] requests, Duration duration) {
			this.requests = requests;
			this.nanos = duration.toNanos();
		}

		boolean over(long now) {
			return now - this.start >= this.nanos;
		}

		ByteBuf next() {
			return this.requests[this.random.nextInt(this.requests.length)].duplicate();
		}

		void add(long latency, boolean passed) {
			this.latencies.recordValue(Math.min(latency, MAX_NANOS));
			if (!passed) {
				this.failed++;
			}
		}

		Result await() {
			try {
				if (!this.open.await(this.nanos + LOST.toNanos(), TimeUnit.NANOSECONDS)) {
					throw new IllegalStateException(this.open.getCount() + " connections got no answer");
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			return new Result(this.latencies.getTotalCount(), this.failed, (System.nanoTime() - this.start) / 1e9,
					this.latencies.getValueAtPercentile(50) / 1e3, this.latencies.getValueAtPercentile(99) / 1e3);
		}

	}

	/** Sends a request, takes the answer, sends the next. */
	private static final class Connection extends SimpleChannelInboundHandler<HttpObject> {

		private final Run run;

		private long sent;

		private boolean passed;

		Connection(Run run) {
			this.run = run;
		}

		@Override
		public void channelActive(ChannelHandlerContext context) {
			send(context, System.nanoTime());
		}

		private void send(ChannelHandlerContext context, long now) {
			this.sent = now;
			context.writeAndFlush(this.run.next(), context.voidPromise());
		}

		@Override
		protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
			if (part instanceof HttpResponse response) {
				// -1: a limiter let the request pass without having counted it.
				this.passed = response.status().code() == 200
						&& !"-1".equals(response.headers().get("X-RateLimit-Remaining"));
			}
			if (part instanceof LastHttpContent) {
				long now = System.nanoTime();
				this.run.add(now - this.sent, this.passed);
				if (this.run.over(now)) {
					context.close();
				}
				else {
					send(context, now);
				}
			}
		}

		@Override
		public void channelInactive(ChannelHandlerContext context) {
			if (!this.run.over(System.nanoTime())) {
				this.run.add(System.nanoTime() - this.sent, false);
			}
			this.run.open.countDown();
		}

	}

}
