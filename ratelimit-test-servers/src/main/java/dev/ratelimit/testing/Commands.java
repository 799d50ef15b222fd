package dev.ratelimit.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;

/** Sends single commands to a server: any through Lettuce, the trivial ones without. */
final class Commands {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private Commands() {
	}

	/** Runs a command and returns its reply as text, one line per element. */
	static String send(RedisURI uri, String... command) {
		uri.setTimeout(TIMEOUT);
		CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
		for (String argument : List.of(command).subList(1, command.length)) {
			arguments.add(argument);
		}
		try (StatefulRedisConnection<String, String> connection = Client.INSTANCE.connect(uri)) {
			return text(connection.sync()
				.dispatch(new Keyword(command[0]), new NestedMultiOutput<>(StringCodec.UTF8), arguments));
		}
	}

	/**
	 * Sends a command without arguments and returns the first line of the reply. Takes
	 * well under a millisecond, as it is done for every server before every test.
	 */
	static String sendInline(String host, int port, String command) throws IOException {
		try (Socket socket = new Socket()) {
			int timeout = (int) TIMEOUT.toMillis();
			socket.setSoTimeout(timeout);
			socket.connect(new InetSocketAddress(host, port), timeout);
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
			String reply = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
				.readLine();
			return (reply != null) ? reply : "";
		}
	}

	private static String text(Object reply) {
		if (reply instanceof List<?> elements) {
			return elements.stream().map(Commands::text).collect(Collectors.joining("\n"));
		}
		return String.valueOf(reply);
	}

	private record Keyword(String name) implements ProtocolKeyword {

		@Override
		public byte[] getBytes() {
			return this.name.getBytes(StandardCharsets.US_ASCII);
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	/** Its threads are daemons and live as long as the JVM. */
	private static final class Client {

		static final RedisClient INSTANCE = RedisClient.create();

		static {
			// Maps come as plain lists, and Sentinels need no HELLO.
			INSTANCE.setOptions(
					ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).autoReconnect(false).build());
		}

	}

}
