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
 * Fails the commands that are under way when a connection breaks. The client would send
 * them again on the next connection, although Redis may have executed them.
 *
 * <p>
 * It is the last handler, where commands enter the channel, and completes them before the
 * client has reconnected; the client does not send a completed command. Answers come in
 * the order of commands, so answered commands are at the head of the queue.
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
