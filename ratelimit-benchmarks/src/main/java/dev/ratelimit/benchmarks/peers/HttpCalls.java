package dev.ratelimit.benchmarks.peers;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedDeque;
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
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter;

/**
 * Calls over HTTP, each on a connection that is kept and has one call at a time. Requests
 * are encoded ahead and one thread does everything, so that the load costs the machine
 * little.
 */
final class HttpCalls implements Contender {

	private final NioEventLoopGroup group = new NioEventLoopGroup(1);

	private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

	private final ByteBuf[] requests;

	HttpCalls(int port, Workload workload) {
		this.requests = new ByteBuf[workload.keys().count()];
		for (int i = 0; i < this.requests.length; i++) {
			byte[] text = ("GET /orders HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0." + (i >> 8) + "."
					+ (i & 0xff) + "\r\n\r\n")
				.getBytes(StandardCharsets.US_ASCII);
			this.requests[i] = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(text));
		}
		Bootstrap bootstrap = new Bootstrap().group(this.group)
			.channel(NioSocketChannel.class)
			.handler(new ChannelInitializer<>() {

				@Override
				protected void initChannel(Channel channel) {
					channel.pipeline().addLast(new HttpResponseDecoder(), new Connection());
				}

			});
		for (int i = 0; i < workload.inFlight(); i++) {
			this.idle.add(bootstrap.connect("127.0.0.1", port)
				.syncUninterruptibly()
				.channel()
				.pipeline()
				.get(Connection.class));
		}
	}

	@Override
	public void check(int key, Answer answer) {
		Connection connection = this.idle.poll();
		if (connection == null) {
			answer.complete(Outcome.FAILED);
			return;
		}
		connection.call(this.requests[key].duplicate(), answer);
	}

	@Override
	public void close() {
		this.group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
	}

	/** Both limiters say by -1 that they let pass without having counted. */
	private static Outcome outcome(HttpResponse response) {
		if ("-1".equals(response.headers().get(RedisRateLimiter.REMAINING_HEADER))) {
			return Outcome.FAILED;
		}
		return switch (response.status().code()) {
			case 200 -> Outcome.ALLOWED;
			case 429 -> Outcome.REFUSED;
			default -> Outcome.FAILED;
		};
	}

	private final class Connection extends SimpleChannelInboundHandler<HttpObject> {

		private @Nullable Channel channel;

		private volatile @Nullable Answer waiting;

		private Outcome outcome = Outcome.FAILED;

		@Override
		public void channelActive(ChannelHandlerContext context) {
			this.channel = context.channel();
		}

		void call(ByteBuf request, Answer answer) {
			this.waiting = answer;
			Channel channel = this.channel;
			if (channel == null || !channel.isActive()) {
				finish(Outcome.FAILED);
				return;
			}
			channel.writeAndFlush(request, channel.voidPromise());
		}

		@Override
		protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
			if (part instanceof HttpResponse response) {
				this.outcome = outcome(response);
			}
			if (part instanceof LastHttpContent) {
				finish(this.outcome);
			}
		}

		@Override
		public void channelInactive(ChannelHandlerContext context) {
			finish(Outcome.FAILED);
		}

		private void finish(Outcome outcome) {
			Answer answer = this.waiting;
			this.waiting = null;
			if (answer != null) {
				HttpCalls.this.idle.add(this);
				answer.complete(outcome);
			}
		}

	}

}
