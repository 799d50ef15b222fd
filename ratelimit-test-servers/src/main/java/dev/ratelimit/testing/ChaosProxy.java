package dev.ratelimit.testing;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
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

	private final int port;

	/** Whether the port was taken from those for tests. */
	private final boolean ownPort;

	private final EventLoopGroup group = new NioEventLoopGroup(1, new DefaultThreadFactory("chaos-proxy", true));

	private final EventLoop loop = this.group.next();

	private final Queue<Instant> accepted = new ConcurrentLinkedQueue<>();

	private final Set<ProxiedConnection> connections = new HashSet<>();

	private Mode mode = Mode.FORWARD;

	private Network network = Network.HEALTHY;

	private final Pipe requests = new Pipe();

	private final Pipe replies = new Pipe();

	private ChaosProxy(InetSocketAddress target, int port) {
		this.target = target;
		this.ownPort = port == 0;
		this.port = this.ownPort ? Ports.take() : port;
	}

	public static ChaosProxy before(RedisServer server) {
		return before(server.host(), server.port());
	}

	public static ChaosProxy before(String host, int port) {
		return before(host, port, 0);
	}

	/**
	 * Starts a proxy.
	 * @param host of the server
	 * @param port of the server
	 * @param listen port of the proxy, 0 for any
	 */
	public static ChaosProxy before(String host, int port, int listen) {
		ChaosProxy proxy = new ChaosProxy(new InetSocketAddress(host, port), listen);
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
		shape(new Network(latency, jitter, 0, 0));
	}

	/** Makes the network as good or bad as this, and ends all other faults. */
	public void shape(Network network) {
		onLoop(() -> forward(network));
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
			forward(Network.HEALTHY);
			List.copyOf(this.connections).forEach(ProxiedConnection::reset);
		});
	}

	/** Ends all faults. */
	public void heal() {
		onLoop(() -> forward(Network.HEALTHY));
	}

	/** Resets what is open and stops to listen. */
	@Override
	public void close() {
		if (!this.group.isShuttingDown()) {
			refuse();
			this.group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
			if (this.ownPort) {
				Ports.giveBack(this.port);
			}
		}
	}

	@Override
	public String toString() {
		return "chaos proxy " + host() + ":" + this.port + " before " + this.target;
	}

	/**
	 * How long a packet is on its way.
	 * @param reply whether it comes from the server
	 */
	long delayNanos(boolean reply, int bytes) {
		return (reply ? this.replies : this.requests).nanos(bytes, this.network.bytesPerSecond())
				+ this.network.delayNanos(reply);
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

	private void forward(Network network) {
		this.mode = Mode.FORWARD;
		this.network = network;
	}

	private void onLoop(Runnable change) {
		this.loop.submit(change).syncUninterruptibly();
	}

	private enum Mode {

		FORWARD, SWALLOW, REFUSE

	}

	/** One direction of all connections together, which share its bandwidth. */
	private static final class Pipe {

		private long free = System.nanoTime();

		/** How long until these bytes are through, after those before them. */
		long nanos(int bytes, long bytesPerSecond) {
			if (bytesPerSecond == 0) {
				return 0;
			}
			long now = System.nanoTime();
			this.free = ((this.free - now > 0) ? this.free : now) + (long) (bytes * 1e9 / bytesPerSecond);
			return this.free - now;
		}

	}

}
