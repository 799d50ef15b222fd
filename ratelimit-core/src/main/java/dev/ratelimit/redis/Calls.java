package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
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
 * Sends script calls: a single one as a command, several for one node in one write. The
 * client flushes every command; {@code setAutoFlushCommands} would hold up all threads of
 * the connection, but a collection of commands is one write. On the connection to a node
 * the client follows no redirects, so a redirected call, which has done nothing yet, is
 * sent again as a command.
 */
final class Calls implements CallSender {

	private static final byte[] REDIS_TIME = {};

	private final Supplier<@Nullable Link> link;

	private final @Nullable LongSupplier micros;

	private final ForbiddenCommands forbidden = new ForbiddenCommands();

	/**
	 * @param link the current link, {@code null} while there is none
	 * @param micros a clock for tests in place of that of Redis
	 */
	Calls(Supplier<@Nullable Link> link, @Nullable LongSupplier micros) {
		this.link = link;
		this.micros = micros;
	}

	@Override
	public CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
		Link link = this.link.get();
		return (link != null) ? new Message(call, link, true).send()
				: CompletableFuture.failedFuture(RedisErrors.NOT_CONNECTED);
	}

	@Override
	public List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
		Link link = this.link.get();
		StatefulRedisConnection<byte[], byte[]> connection = (link != null && calls.size() > 1)
				? link.connection(calls.get(0).counter()) : null;
		return (link == null || connection == null) ? CallSender.super.send(calls)
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
			Message message = new Message(call, link, false);
			AsyncCommand<byte[], byte[], List<Object>> command = message.command();
			command.handle(message);
			commands.add(command);
			return message;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private byte[] time() {
		return (this.micros != null) ? Long.toString(this.micros.getAsLong()).getBytes(StandardCharsets.ISO_8859_1)
				: REDIS_TIME;
	}

	/**
	 * A call with its arguments and its answer. It is sent again with its text if the
	 * node does not know the script, and as a command if the node redirected it: the node
	 * has done nothing then.
	 */
	private final class Message extends CompletableFuture<List<ScriptCall.Outcome>>
			implements BiFunction<@Nullable List<Object>, @Nullable Throwable, @Nullable Void> {

		private final ScriptCall call;

		private final Link link;

		private final byte[][] arguments;

		/** Whether the client follows redirects. */
		private boolean redirects;

		Message(ScriptCall call, Link link, boolean redirects) {
			this.call = call;
			this.link = link;
			this.redirects = redirects;
			this.arguments = call.arguments(time());
		}

		Message send() {
			RedisClusterAsyncCommands<byte[], byte[]> commands = this.link.commands();
			if (commands != null) {
				commands
					.<List<Object>>evalsha(this.call.script().sha(), ScriptOutputType.MULTI, this.call.keys(),
							this.arguments)
					.handle(this);
			}
			else {
				completeExceptionally(RedisErrors.NOT_CONNECTED);
			}
			return this;
		}

		@Override
		public @Nullable Void apply(@Nullable List<Object> reply, @Nullable Throwable failure) {
			try {
				if (reply != null) {
					// A third element: a command was forbidden, and a dearer one was
					// used.
					if (reply.size() > 2) {
						Calls.this.forbidden.report(this.link.node(this.call.counter()));
					}
					complete(this.call.decode(reply));
				}
				else {
					failed((failure != null) ? failure : new IllegalStateException("neither a reply nor a failure"));
				}
			}
			catch (RuntimeException ex) {
				completeExceptionally(RedisErrors.translate(ex));
			}
			return null;
		}

		private void failed(Throwable failure) {
			RedisClusterAsyncCommands<byte[], byte[]> commands = this.link.commands();
			if (RedisErrors.unknownScript(failure) && commands != null) {
				// The node then knows the script, so that later calls do without its
				// text.
				commands
					.<List<Object>>eval(this.call.script().text(), ScriptOutputType.MULTI, this.call.keys(),
							this.arguments)
					.handle(this);
			}
			else if (!this.redirects && RedisErrors.redirected(failure)) {
				this.redirects = true;
				send();
			}
			else {
				UnansweredException translated = RedisErrors.translate(failure);
				if (translated.reason() == Decision.Reason.READ_ONLY) {
					this.link.demoted();
				}
				completeExceptionally(translated);
			}
		}

		AsyncCommand<byte[], byte[], List<Object>> command() {
			CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE)
				.add(this.call.script().sha())
				.add(this.call.keys().length)
				.addKeys(this.call.keys())
				.addValues(this.arguments);
			RedisCommand<byte[], byte[], List<Object>> command = new Command<>(CommandType.EVALSHA,
					new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), arguments);
			return new AsyncCommand<>(command);
		}

	}

}
