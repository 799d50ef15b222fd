package dev.ratelimit.redis;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection that does not answer in time. Where packets are dropped, neither
 * side learns that a connection is dead. The client would wait until the kernel gives up,
 * after a quarter of an hour, although a new connection may work long before.
 */
final class AnswerWatchdog extends ChannelDuplexHandler {

	private static final long NOT_WAITING = Long.MIN_VALUE;

	private final long timeoutNanos;

	private long waitingSince = NOT_WAITING;

	private @Nullable ScheduledFuture<?> watch;

	AnswerWatchdog(long timeoutNanos) {
		this.timeoutNanos = timeoutNanos;
	}

	@Override
	public void handlerAdded(ChannelHandlerContext context) {
		if (context.channel().isActive()) {
			begin(context);
		}
	}

	@Override
	public void channelActive(ChannelHandlerContext context) throws Exception {
		begin(context);
		super.channelActive(context);
	}

	@Override
	public void channelInactive(ChannelHandlerContext context) throws Exception {
		end();
		super.channelInactive(context);
	}

	@Override
	public void handlerRemoved(ChannelHandlerContext context) {
		end();
	}

	@Override
	public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
		if (this.waitingSince == NOT_WAITING) {
			this.waitingSince = System.nanoTime();
		}
		super.write(context, message, promise);
	}

	@Override
	public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
		this.waitingSince = NOT_WAITING;
		super.channelRead(context, message);
	}

	private void begin(ChannelHandlerContext context) {
		if (this.watch == null) {
			long interval = Math.max(1, this.timeoutNanos / 4);
			this.watch = context.executor()
				.scheduleAtFixedRate(() -> check(context), interval, interval, TimeUnit.NANOSECONDS);
		}
	}

	private void end() {
		if (this.watch != null) {
			this.watch.cancel(false);
		}
	}

	private void check(ChannelHandlerContext context) {
		if (this.waitingSince != NOT_WAITING && System.nanoTime() - this.waitingSince > this.timeoutNanos) {
			context.close();
		}
	}

}
