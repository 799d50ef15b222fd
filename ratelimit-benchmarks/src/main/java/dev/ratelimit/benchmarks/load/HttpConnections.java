package dev.ratelimit.benchmarks.load;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.ReadTimeoutHandler;
import org.jspecify.annotations.Nullable;

import static dev.ratelimit.benchmarks.load.Contender.Outcome;

/**
 * Connections to one HTTP server, each with one request at a time. A request waits if all
 * are busy. Requests are encoded by the caller and one thread does everything, so that
 * the load costs the machine little.
 */
public final class HttpConnections implements AutoCloseable {

	/** No server takes this long, unless it has lost an answer. */
	private static final int LOST_SECONDS = 30;

	private final NioEventLoopGroup group = new NioEventLoopGroup(1);

	private final EventLoop loop = this.group.next();

	private final Bootstrap bootstrap;

	private final int most;

	private final Deque<Connection> idle = new ArrayDeque<>();

	private final Deque<Exchange> waiting = new ArrayDeque<>();

	private int open;

	/**
	 * Prepares connections, which are made when they are needed.
	 * @param most how many at most
	 */
	public HttpConnections(InetSocketAddress server, int most) {
		this.most = most;
		this.bootstrap = new Bootstrap().group(this.group)
			.channel(NioSocketChannel.class)
			.option(ChannelOption.TCP_NODELAY, true)
			.remoteAddress(server)
			.handler(new ChannelInitializer<>() {

				@Override
				protected void initChannel(Channel channel) {
					channel.pipeline()
						.addLast(new ReadTimeoutHandler(LOST_SECONDS), new HttpResponseDecoder(), new Connection());
				}

			});
	}

	/**
	 * Sends a request. The outcome is ALLOWED for 200, REFUSED for 429, and otherwise
	 * FAILED, also for an answer of a failure mode, which was not counted.
	 * @param request all its bytes
	 * @param answer called on the thread of the connections
	 */
	public void send(ByteBuf request, Contender.Answer answer) {
		Exchange exchange = new Exchange(request, answer);
		if (this.loop.inEventLoop()) {
			begin(exchange);
		}
		else {
			this.loop.execute(() -> begin(exchange));
		}
	}

	private void begin(Exchange exchange) {
		Connection connection = this.idle.pollLast();
		if (connection != null) {
			connection.send(exchange);
			return;
		}
		this.waiting.add(exchange);
		if (this.open < this.most) {
			connect();
		}
	}

	private void connect() {
		this.open++;
		this.bootstrap.connect().addListener((connected) -> {
			if (!connected.isSuccess()) {
				this.open--;
				Exchange first = this.waiting.poll();
				if (first != null) {
					first.request().release();
					first.answer().complete(Outcome.FAILED);
				}
				replace();
			}
		});
	}

	/** A request that still waits needs a connection if none is left to take it. */
	private void replace() {
		if (!this.waiting.isEmpty() && this.open < this.most && !this.group.isShuttingDown()) {
			connect();
		}
	}

	private void take(Connection connection) {
		Exchange next = this.waiting.poll();
		if (next != null) {
			connection.send(next);
		}
		else {
			this.idle.add(connection);
		}
	}

	@Override
	public void close() {
		this.group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
	}

	private record Exchange(ByteBuf request, Contender.Answer answer) {
	}

	private final class Connection extends SimpleChannelInboundHandler<HttpObject> {

		@SuppressWarnings("NullAway.Init")
		private ChannelHandlerContext context;

		private @Nullable Exchange current;

		private Outcome outcome = Outcome.FAILED;

		@Override
		public void channelActive(ChannelHandlerContext context) {
			this.context = context;
			take(this);
		}

		void send(Exchange exchange) {
			this.current = exchange;
			this.outcome = Outcome.FAILED;
			this.context.writeAndFlush(exchange.request(), this.context.voidPromise());
		}

		@Override
		protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
			if (part instanceof HttpResponse response) {
				this.outcome = outcome(response);
			}
			Exchange answered = this.current;
			if (part instanceof LastHttpContent && answered != null) {
				Outcome outcome = this.outcome;
				this.current = null;
				// Free before the answer, which may send the next request at once.
				take(this);
				answered.answer().complete(outcome);
			}
		}

		private static Outcome outcome(HttpResponse response) {
			// Ours says degraded; the gateway's own limiter says -1.
			if ("degraded".equals(response.headers().get("X-RateLimit-Policy"))
					|| "-1".equals(response.headers().get("X-RateLimit-Remaining"))) {
				return Outcome.FAILED;
			}
			return switch (response.status().code()) {
				case 200 -> Outcome.ALLOWED;
				case 429 -> Outcome.REFUSED;
				default -> Outcome.FAILED;
			};
		}

		@Override
		public void channelInactive(ChannelHandlerContext context) {
			HttpConnections.this.open--;
			HttpConnections.this.idle.remove(this);
			Exchange lost = this.current;
			if (lost != null) {
				this.current = null;
				lost.answer().complete(Outcome.FAILED);
			}
			replace();
		}

		@Override
		public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
			context.close();
		}

	}

}
