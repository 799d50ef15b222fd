package dev.ratelimit.redis;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Queue;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/**
 * Fails what is on its way when its connection breaks. The client would send it again on
 * the next connection, and Redis may have counted it already.
 *
 * <p>
 * It stands where commands enter the channel, and completes them before the client has
 * reconnected; one that is complete is not sent. Answers come in the order of commands,
 * so those that are answered are at the head of the queue.
 */
final class LostCommands extends ChannelDuplexHandler {

	private final Queue<RedisCommand<?, ?, ?>> sent = new ArrayDeque<>();

	@Override
	public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
		while (!this.sent.isEmpty() && this.sent.peek().isDone()) {
			this.sent.remove();
		}
		if (message instanceof RedisCommand<?, ?, ?> command) {
			this.sent.add(command);
		}
		else if (message instanceof Collection<?> commands) {
			commands.forEach((command) -> this.sent.add((RedisCommand<?, ?, ?>) command));
		}
		super.write(context, message, promise);
	}

	@Override
	public void channelInactive(ChannelHandlerContext context) throws Exception {
		if (!this.sent.isEmpty()) {
			RedisConnectionException lost = new RedisConnectionException("the connection broke before the answer came");
			this.sent.forEach((command) -> command.completeExceptionally(lost));
			this.sent.clear();
		}
		super.channelInactive(context);
	}

}
