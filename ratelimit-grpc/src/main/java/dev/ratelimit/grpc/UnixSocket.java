package dev.ratelimit.grpc;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * A server on a Unix domain socket, for the processes of one host. Its file can be used
 * by the owner and the group.
 */
final class UnixSocket {

	private static final String MODE = "rw-rw----";

	private final Path path;

	private final EpollEventLoopGroup acceptor;

	private final EpollEventLoopGroup workers;

	/**
	 * Creates it.
	 * @param path path of the socket's file
	 */
	UnixSocket(String path) {
		if (!Epoll.isAvailable()) {
			throw new InvalidPolicyException("ratelimit.grpc.address",
					"'ratelimit.grpc.address' is a Unix domain socket, which needs Linux.",
					"Set 'ratelimit.grpc.address' to an IP address, such as 127.0.0.1.");
		}
		this.path = Path.of(path);
		this.acceptor = new EpollEventLoopGroup(1);
		this.workers = new EpollEventLoopGroup();
	}

	NettyServerBuilder builder() throws IOException {
		requireFree();
		return NettyServerBuilder.forAddress(new DomainSocketAddress(this.path.toFile()))
			.channelType(EpollServerDomainSocketChannel.class)
			.bossEventLoopGroup(this.acceptor)
			.workerEventLoopGroup(this.workers);
	}

	/** The server listens: from now on the group may connect too. */
	void restrict() throws IOException {
		Files.setPosixFilePermissions(this.path, PosixFilePermissions.fromString(MODE));
	}

	/**
	 * Makes sure that the path is free: Netty deletes whatever is there. A process that
	 * was killed leaves its socket behind, and connections to it are refused.
	 */
	private void requireFree() throws IOException {
		if (!Files.exists(this.path, LinkOption.NOFOLLOW_LINKS)) {
			return;
		}
		if (!Files.readAttributes(this.path, BasicFileAttributes.class).isOther()) {
			throw new IOException("there is a file that is not a socket");
		}
		try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
			channel.connect(UnixDomainSocketAddress.of(this.path));
			throw new IOException("another process listens there");
		}
		catch (ConnectException ex) {
			Files.deleteIfExists(this.path);
		}
	}

	/**
	 * Netty deletes the file when the server stops listening. After that, the path may
	 * belong to a new process.
	 */
	void close() {
		this.acceptor.shutdownGracefully();
		this.workers.shutdownGracefully();
	}

}
