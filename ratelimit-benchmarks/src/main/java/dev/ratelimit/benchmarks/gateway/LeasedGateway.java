package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisURI;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
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

import dev.ratelimit.benchmarks.peers.Contender;

/**
 * A gateway with a leased limit, in a JVM of its own, asked over HTTP by one thread. A
 * check is a request on a connection that has no other one. While all connections are
 * busy, requests wait here, so the sender keeps its rate. Answers of the failure mode and
 * errors count as failed.
 */
public final class LeasedGateway implements Contender {

	private static final Route ROUTE = Route.LEASED;

	/** More than this fail unsent; no gateway that keeps up gets there. */
	private static final int MOST_WAITING = 20_000;

	private final NioEventLoopGroup thread = new NioEventLoopGroup(1);

	private final Upstream upstream = Upstream.start();

	private final GatewayProcess gateway;

	private final Bootstrap bootstrap;

	private final int connections;

	private final ByteBuf[] requests;

	/** This and what follows: only on the event loop's thread. */
	private final Deque<Connection> idle = new ArrayDeque<>();

	private final Deque<Waiting> waiting = new ArrayDeque<>();

	private int open;

	/**
	 * Starts upstream and gateway.
	 * @param callers by address
	 * @param connections at most
	 * @param deadline of a check
	 */
	public LeasedGateway(RedisURI redis, int callers, int connections, Duration deadline) throws IOException {
		this.connections = connections;
		this.requests = BuiltInLoad.requests(ROUTE.path(), callers);
		try {
			this.gateway = new GatewayProcess(redis, this.upstream.port(), deadline);
		}
		catch (IOException | RuntimeException ex) {
			this.upstream.close();
			this.thread.shutdownGracefully();
			throw ex;
		}
		this.bootstrap = new Bootstrap().group(this.thread)
			.channel(NioSocketChannel.class)
			.remoteAddress("127.0.0.1", this.gateway.port())
			.handler(new ChannelInitializer<>() {

				@Override
				protected void initChannel(Channel channel) {
					channel.pipeline().addLast(new HttpResponseDecoder(), new Connection());
				}

			});
	}

	@Override
	public void check(int key, Answer answer) {
		this.thread.execute(() -> {
			if (this.waiting.size() >= MOST_WAITING) {
				answer.complete(Outcome.FAILED);
				return;
			}
			this.waiting.add(new Waiting(key, answer));
			serve();
		});
	}

	private void serve() {
		while (!this.waiting.isEmpty()) {
			Connection connection = this.idle.poll();
			if (connection == null) {
				connect();
				return;
			}
			connection.send(this.waiting.remove());
		}
	}

	private void connect() {
		if (this.open < this.connections) {
			this.open++;
			this.bootstrap.connect().addListener((ChannelFuture connected) -> {
				if (!connected.isSuccess()) {
					this.open--;
				}
			});
		}
	}

	/** Processor time that the gateway has used, in seconds. */
	public double cpuSeconds() {
		return this.gateway.cpuSeconds();
	}

	@Override
	public void close() {
		this.gateway.close();
		this.upstream.close();
		this.thread.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
	}

	/** For the output. */
	@Override
	public String toString() {
		return "a gateway, " + this.upstream;
	}

	private record Waiting(int key, Answer answer) {
	}

	private final class Connection extends SimpleChannelInboundHandler<HttpObject> {

		private @Nullable ChannelHandlerContext context;

		private @Nullable Answer answer;

		private Outcome outcome = Outcome.FAILED;

		@Override
		public void channelActive(ChannelHandlerContext context) {
			this.context = context;
			LeasedGateway.this.idle.add(this);
			serve();
		}

		void send(Waiting next) {
			this.answer = next.answer();
			ChannelHandlerContext context = Objects.requireNonNull(this.context);
			context.writeAndFlush(LeasedGateway.this.requests[next.key()].duplicate(), context.voidPromise());
		}

		@Override
		protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
			if (part instanceof HttpResponse response) {
				this.outcome = outcome(response);
			}
			if (part instanceof LastHttpContent) {
				answer(this.outcome);
				LeasedGateway.this.idle.add(this);
				serve();
			}
		}

		@Override
		public void channelInactive(ChannelHandlerContext context) {
			LeasedGateway.this.open--;
			LeasedGateway.this.idle.remove(this);
			answer(Outcome.FAILED);
		}

		private void answer(Outcome outcome) {
			Answer answer = this.answer;
			this.answer = null;
			if (answer != null) {
				answer.complete(outcome);
			}
		}

		private static Outcome outcome(HttpResponse response) {
			if ("degraded".equals(response.headers().get("X-RateLimit-Policy"))) {
				return Outcome.FAILED;
			}
			return switch (response.status().code()) {
				case 200 -> Outcome.ALLOWED;
				case 429 -> Outcome.REFUSED;
				default -> Outcome.FAILED;
			};
		}

	}

}
