package dev.ratelimit.redis;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection that was asked and has not said anything for too long. Where
 * packets are dropped no side of a connection learns that it is dead; the client would
 * wait on it until the kernel gives up, a quarter of an hour later, and long after Redis
 * can be reached by a new one.
 */
final class AnswerWatchdog extends ChannelDuplexHandler {

	private static final long NOT_WAITING = Long.MIN_VALUE;

	private final long patienceNanos;

	private long waitingSince = NOT_WAITING;

	private @Nullable ScheduledFuture<?> watch;

	AnswerWatchdog(long patienceNanos) {
		this.patienceNanos = patienceNanos;
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
			long interval = Math.max(1, this.patienceNanos / 4);
			this.watch = context.executor()
				.scheduleAtFixedRate(() -> look(context), interval, interval, TimeUnit.NANOSECONDS);
		}
	}

	private void end() {
		if (this.watch != null) {
			this.watch.cancel(false);
		}
	}

	private void look(ChannelHandlerContext context) {
		if (this.waitingSince != NOT_WAITING && System.nanoTime() - this.waitingSince > this.patienceNanos) {
			context.close();
		}
	}

}
