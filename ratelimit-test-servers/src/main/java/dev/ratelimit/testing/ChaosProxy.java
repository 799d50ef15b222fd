package dev.ratelimit.testing;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisURI;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * A network that can be made sick: a TCP proxy on the loopback in front of a server.
 * Faults are switched at run time, hold for open connections too, and are in force when
 * the switching method returns.
 * <p>
 * Everything happens on one event loop, so nothing in here needs a lock; a healthy proxy
 * only hands buffers on.
 */
public final class ChaosProxy implements AutoCloseable {

	private final InetSocketAddress target;

	private final int port = Ports.take();

	private final EventLoopGroup group = new NioEventLoopGroup(1, new DefaultThreadFactory("chaos-proxy", true));

	private final EventLoop loop = this.group.next();

	private final Queue<Instant> accepted = new ConcurrentLinkedQueue<>();

	private final Set<ProxiedConnection> connections = new HashSet<>();

	private Mode mode = Mode.FORWARD;

	private Delay replies = Delay.NONE;

	private ChaosProxy(InetSocketAddress target) {
		this.target = target;
	}

	public static ChaosProxy before(RedisServer server) {
		return before(server.host(), server.port());
	}

	public static ChaosProxy before(String host, int port) {
		ChaosProxy proxy = new ChaosProxy(new InetSocketAddress(host, port));
		try {
			proxy.listen();
			return proxy;
		}
		catch (RuntimeException ex) {
			proxy.close();
			throw ex;
		}
	}

	public String host() {
		return ServerHome.HOST;
	}

	public int port() {
		return this.port;
	}

	public RedisURI uri() {
		return RedisURI.create(host(), this.port);
	}

	/** Where the healthy proxy leads to. */
	public InetSocketAddress target() {
		return this.target;
	}

	/** When connections came in, whatever became of them. */
	public List<Instant> accepted() {
		return List.copyOf(this.accepted);
	}

	/**
	 * Delivers replies late and in order.
	 * @param latency what every reply is late by
	 * @param jitter what it is late by in addition, at most
	 */
	public void delayReplies(Duration latency, Duration jitter) {
		onLoop(() -> forward(new Delay(latency.toNanos(), jitter.toNanos())));
	}

	/**
	 * Drops every byte and leaves connections open. New ones are accepted and never
	 * answered. What is open now is lost: no byte will pass, also not after
	 * {@link #heal()}, as with a flow that a firewall has forgotten.
	 */
	public void swallow() {
		onLoop(() -> {
			this.mode = Mode.SWALLOW;
			this.connections.forEach(ProxiedConnection::lose);
		});
	}

	/** Resets every connection, new ones as soon as they are accepted. */
	public void refuse() {
		onLoop(() -> {
			this.mode = Mode.REFUSE;
			List.copyOf(this.connections).forEach(ProxiedConnection::reset);
		});
	}

	/** Resets every connection, with all that is on its way; new ones are healthy. */
	public void cut() {
		onLoop(() -> {
			forward(Delay.NONE);
			List.copyOf(this.connections).forEach(ProxiedConnection::reset);
		});
	}

	/** Ends all faults. */
	public void heal() {
		onLoop(() -> forward(Delay.NONE));
	}

	/** Resets what is open and stops to listen. */
	@Override
	public void close() {
		if (!this.group.isShuttingDown()) {
			refuse();
			this.group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
			Ports.giveBack(this.port);
		}
	}

	@Override
	public String toString() {
		return "chaos proxy " + host() + ":" + this.port + " before " + this.target;
	}

	long replyDelayNanos() {
		return this.replies.next();
	}

	ChannelFuture connect(ProxiedConnection connection) {
		return new Bootstrap().group(this.loop)
			.channel(NioSocketChannel.class)
			.option(ChannelOption.TCP_NODELAY, true)
			.handler(connection.replies())
			.connect(this.target);
	}

	void closed(ProxiedConnection connection) {
		this.connections.remove(connection);
	}

	private void listen() {
		new ServerBootstrap().group(this.group)
			.channel(NioServerSocketChannel.class)
			.option(ChannelOption.SO_REUSEADDR, true)
			.childOption(ChannelOption.TCP_NODELAY, true)
			// Nothing is read before there is somewhere to send it.
			.childOption(ChannelOption.AUTO_READ, false)
			.childHandler(new ChannelInitializer<Channel>() {

				@Override
				protected void initChannel(Channel client) {
					// Not before it is registered, or it could not be closed.
					client.eventLoop().execute(() -> accept(client));
				}

			})
			.bind(ServerHome.HOST, this.port)
			.syncUninterruptibly();
	}

	private void accept(Channel client) {
		this.accepted.add(Instant.now());
		ProxiedConnection connection = new ProxiedConnection(this, client);
		this.connections.add(connection);
		switch (this.mode) {
			case FORWARD -> connection.open();
			case SWALLOW -> connection.lose();
			case REFUSE -> connection.reset();
		}
	}

	private void forward(Delay replies) {
		this.mode = Mode.FORWARD;
		this.replies = replies;
	}

	private void onLoop(Runnable change) {
		this.loop.submit(change).syncUninterruptibly();
	}

	private enum Mode {

		FORWARD, SWALLOW, REFUSE

	}

	private record Delay(long nanos, long jitter) {

		static final Delay NONE = new Delay(0, 0);

		long next() {
			return (this.jitter > 0) ? this.nanos + ThreadLocalRandom.current().nextLong(this.jitter + 1) : this.nanos;
		}

	}

}
