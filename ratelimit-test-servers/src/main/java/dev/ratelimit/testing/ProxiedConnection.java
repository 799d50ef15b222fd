package dev.ratelimit.testing;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;

/** A client's connection to a {@link ChaosProxy} and the one that it leads to. */
final class ProxiedConnection {

	/** A sender may be this far ahead of a slow network. */
	private static final int MAX_LATE_BYTES = 1 << 20;

	private final ChaosProxy proxy;

	private final Channel client;

	private final Direction requests;

	private final Direction replies;

	private Channel server;

	private boolean lost;

	ProxiedConnection(ChaosProxy proxy, Channel client) {
		this.proxy = proxy;
		this.client = client;
		this.requests = new Direction(false);
		this.replies = new Direction(true);
		client.pipeline().addLast(this.requests);
		client.closeFuture().addListener((closed) -> proxy.closed(this));
	}

	ChannelHandler replies() {
		return this.replies;
	}

	void open() {
		this.proxy.connect(this).addListener((connected) -> {
			if (connected.isSuccess()) {
				this.client.config().setAutoRead(true);
			}
			else if (!this.lost) {
				reset();
			}
		});
	}

	/** From now on no byte gets through, and the client does not learn of a close. */
	void lose() {
		this.lost = true;
		this.client.config().setAutoRead(true);
	}

	/** Ends the connection as a dead host would: RST instead of FIN. */
	void reset() {
		this.client.config().setOption(ChannelOption.SO_LINGER, 0);
		this.client.close();
	}

	/** One way through. Bytes never overtake each other, however late each is to be. */
	private final class Direction extends ChannelInboundHandlerAdapter {

		private final boolean reply;

		private final Deque<Late> late = new ArrayDeque<>();

		private int lateBytes;

		Direction(boolean reply) {
			this.reply = reply;
		}

		@Override
		public void channelActive(ChannelHandlerContext source) {
			if (this == ProxiedConnection.this.replies) {
				ProxiedConnection.this.server = source.channel();
				if (!ProxiedConnection.this.client.isOpen()) {
					source.close();
				}
			}
		}

		@Override
		public void channelRead(ChannelHandlerContext source, Object bytes) {
			inOrder(source, ((ByteBuf) bytes).readableBytes(), () -> {
				if (ProxiedConnection.this.lost) {
					ReferenceCountUtil.release(bytes);
				}
				else {
					destination().writeAndFlush(bytes);
				}
			});
		}

		@Override
		public void channelInactive(ChannelHandlerContext source) {
			inOrder(source, 0, () -> {
				boolean learns = !ProxiedConnection.this.lost || this == ProxiedConnection.this.requests;
				if (learns && destination() != null) {
					destination().close();
				}
			});
		}

		/** A slow reader slows its writer down instead of filling the memory. */
		@Override
		public void channelWritabilityChanged(ChannelHandlerContext source) {
			if (destination() != null) {
				destination().config().setAutoRead(source.channel().isWritable());
			}
		}

		@Override
		public void exceptionCaught(ChannelHandlerContext source, Throwable cause) {
			source.close();
		}

		private Channel destination() {
			return (this == ProxiedConnection.this.requests) ? ProxiedConnection.this.server
					: ProxiedConnection.this.client;
		}

		private void inOrder(ChannelHandlerContext source, int bytes, Runnable delivery) {
			long delay = ProxiedConnection.this.proxy.delayNanos(this.reply, bytes);
			if (delay == 0 && this.late.isEmpty()) {
				delivery.run();
				return;
			}
			this.late.add(new Late(System.nanoTime() + delay, bytes, delivery));
			this.lateBytes += bytes;
			if (this.lateBytes > MAX_LATE_BYTES) {
				source.channel().config().setAutoRead(false);
			}
			if (this.late.size() == 1) {
				deliverNext(source.channel());
			}
		}

		/** One timer for the oldest only: timers of their own could fire in any order. */
		private void deliverNext(Channel source) {
			source.eventLoop().schedule(() -> {
				Late oldest = this.late.remove();
				boolean wasFull = this.lateBytes > MAX_LATE_BYTES;
				this.lateBytes -= oldest.bytes();
				oldest.delivery().run();
				if (wasFull && this.lateBytes <= MAX_LATE_BYTES) {
					source.config().setAutoRead(true);
				}
				if (!this.late.isEmpty()) {
					deliverNext(source);
				}
			}, this.late.element().due() - System.nanoTime(), TimeUnit.NANOSECONDS);
		}

	}

	private record Late(long due, int bytes, Runnable delivery) {
	}

}
