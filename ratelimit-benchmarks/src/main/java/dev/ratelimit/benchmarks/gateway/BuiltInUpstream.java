package dev.ratelimit.benchmarks.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;

/**
 * Upstream where there is no nginx. It only looks for the empty line that ends a request:
 * a gateway that forwards GET sends no body.
 */
final class BuiltInUpstream implements Upstream {

	private static final byte[] END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final ByteBuf ANSWER = Unpooled.unreleasableBuffer(Unpooled.directBuffer()
		.writeBytes("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
			.getBytes(StandardCharsets.US_ASCII)));

	private final NioEventLoopGroup group = new NioEventLoopGroup(1);

	private final Channel channel;

	BuiltInUpstream() {
		this.channel = new ServerBootstrap().group(this.group)
			.channel(NioServerSocketChannel.class)
			.childHandler(new ChannelInitializer<>() {

				@Override
				protected void initChannel(Channel channel) {
					channel.pipeline().addLast(new Connection());
				}

			})
			.bind(InetAddress.getLoopbackAddress(), 0)
			.syncUninterruptibly()
			.channel();
	}

	@Override
	public int port() {
		return ((InetSocketAddress) this.channel.localAddress()).getPort();
	}

	@Override
	public double cpuSeconds() {
		return 0;
	}

	@Override
	public void close() {
		this.group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
	}

	@Override
	public String toString() {
		return "built-in upstream (install nginx for less)";
	}

	private static final class Connection extends SimpleChannelInboundHandler<ByteBuf> {

		/** How much of the end of a request was read. */
		private int matched;

		@Override
		protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
			while (bytes.isReadable()) {
				byte next = bytes.readByte();
				this.matched = (next == END[this.matched]) ? this.matched + 1 : (next == END[0]) ? 1 : 0;
				if (this.matched == END.length) {
					this.matched = 0;
					context.write(ANSWER.duplicate(), context.voidPromise());
				}
			}
		}

		@Override
		public void channelReadComplete(ChannelHandlerContext context) {
			context.flush();
		}

	}

}
