package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.UnansweredException;

/**
 * Sends script calls: one as any command is sent, several for one node in one write. The
 * client flushes every command by itself; its switch for that
 * ({@code setAutoFlushCommands}) is the connection's, so other threads would wait for our
 * flush. A collection of commands on the connection to the node is one write and concerns
 * nobody else. The client follows no redirects on that connection, so a call that is
 * redirected is sent once more as any command is: it has done nothing yet.
 */
final class Calls implements Lane.Sender {

	private static final byte[] REDIS_TIME = {};

	private final Supplier<@Nullable Link> link;

	private final ScriptLoads loads = new ScriptLoads();

	private final @Nullable LongSupplier micros;

	/**
	 * Creates it.
	 * @param link where to send calls, if there is a way now
	 * @param micros another clock than Redis's: a seam for tests
	 */
	Calls(Supplier<@Nullable Link> link, @Nullable LongSupplier micros) {
		this.link = link;
		this.micros = micros;
	}

	@Override
	public CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
		Link link = this.link.get();
		if (link == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		Message message = new Message(call, time());
		return outcomes(link, message, message.send(link));
	}

	@Override
	public List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
		Link link = this.link.get();
		StatefulRedisConnection<byte[], byte[]> connection = (link != null && calls.size() > 1)
				? link.connection(calls.get(0).counter()) : null;
		return (link == null || connection == null) ? Lane.Sender.super.send(calls)
				: sendTogether(calls, link, connection);
	}

	private List<CompletionStage<List<ScriptCall.Outcome>>> sendTogether(List<ScriptCall> calls, Link link,
			StatefulRedisConnection<byte[], byte[]> connection) {
		String node = link.node(calls.get(0).counter());
		List<CompletionStage<List<ScriptCall.Outcome>>> answers = new ArrayList<>(calls.size());
		List<AsyncCommand<byte[], byte[], List<Object>>> commands = new ArrayList<>(calls.size());
		for (ScriptCall call : calls) {
			// A slot may have moved since its requests began to wait.
			answers.add(link.node(call.counter()).equals(node) ? add(call, link, commands) : attempt(call));
		}
		try {
			connection.dispatch(commands);
		}
		catch (RuntimeException ex) {
			commands.forEach((command) -> command.completeExceptionally(ex));
		}
		return answers;
	}

	private CompletionStage<List<ScriptCall.Outcome>> add(ScriptCall call, Link link,
			List<AsyncCommand<byte[], byte[], List<Object>>> commands) {
		try {
			Message message = new Message(call, time());
			AsyncCommand<byte[], byte[], List<Object>> command = message.command();
			CompletionStage<List<ScriptCall.Outcome>> answer = outcomes(link, message,
					command.exceptionallyCompose((failure) -> Failures.redirected(failure) ? message.send(link)
							: CompletableFuture.failedStage(failure)));
			commands.add(command);
			return answer;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private CompletionStage<List<ScriptCall.Outcome>> outcomes(Link link, Message message,
			CompletionStage<List<Object>> reply) {
		return reply.exceptionallyCompose(
				(failure) -> Failures.unknownScript(failure)
						? this.loads.load(message.call.script(), message.call.counter(), link)
							.thenCompose((loaded) -> message.sendWithText(link))
						: CompletableFuture.failedStage(failure))
			.handle((answer, failure) -> {
				if (failure != null) {
					throw failed(link, failure);
				}
				return message.call.decode(answer);
			});
	}

	private static UnansweredException failed(Link link, Throwable failure) {
		UnansweredException translated = Failures.translate(failure);
		if (translated.reason() == Decision.Reason.READ_ONLY) {
			link.demoted();
		}
		return translated;
	}

	private byte[] time() {
		return (this.micros != null) ? Long.toString(this.micros.getAsLong()).getBytes(StandardCharsets.ISO_8859_1)
				: REDIS_TIME;
	}

	/**
	 * A call as it is sent, each time with the same arguments.
	 */
	private static final class Message {

		private final ScriptCall call;

		private final byte[][] keys;

		private final byte[][] arguments;

		Message(ScriptCall call, byte[] time) {
			this.call = call;
			this.keys = call.keys();
			this.arguments = call.arguments(time);
		}

		CompletionStage<List<Object>> send(Link link) {
			RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
			return (commands != null)
					? commands.evalsha(this.call.script().sha(), ScriptOutputType.MULTI, this.keys, this.arguments)
					: CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}

		CompletionStage<List<Object>> sendWithText(Link link) {
			RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
			return (commands != null) ? this.call.script().call(commands, this.keys, this.arguments)
					: CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}

		AsyncCommand<byte[], byte[], List<Object>> command() {
			CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE)
				.add(this.call.script().sha())
				.add(this.keys.length)
				.addKeys(this.keys)
				.addValues(this.arguments);
			RedisCommand<byte[], byte[], List<Object>> command = new Command<>(CommandType.EVALSHA,
					new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), arguments);
			return new AsyncCommand<>(command);
		}

	}

}
