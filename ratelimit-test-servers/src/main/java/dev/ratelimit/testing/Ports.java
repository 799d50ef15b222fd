package dev.ratelimit.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Hands out ports that are free together with their cluster bus port, 10000 above. Both
 * lie below the ephemeral ports of Linux and macOS, so that no outgoing connection takes
 * the port of a killed server before it is restarted.
 * <p>
 * Neither does another JVM that tests at the same time, be it another fork or another
 * checkout: who holds a port has a lock on its byte of a file that all of them share. The
 * lock ends with the JVM, however that ends.
 */
final class Ports {

	private static final int FIRST = 11_000;

	private static final int LAST = 21_000;

	private static final int BUS = 10_000;

	/** Never closed: that would end all locks of this JVM on the file. */
	private static final FileChannel SHARED = open();

	private static final Map<Integer, FileLock> TAKEN = new HashMap<>();

	private Ports() {
	}

	static synchronized int take() {
		for (int attempt = 0; attempt < 1000; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
			if (tryTake(port)) {
				return port;
			}
		}
		throw new IllegalStateException("No free port between " + FIRST + " and " + LAST);
	}

	static synchronized void giveBack(int port) {
		FileLock lock = TAKEN.remove(port);
		if (lock != null) {
			Unchecked.call(() -> {
				lock.release();
				return lock;
			});
		}
	}

	static synchronized boolean tryTake(int port) {
		FileLock lock = TAKEN.containsKey(port) ? null : Unchecked.call(() -> SHARED.tryLock(port, 1, false));
		if (lock == null) {
			return false;
		}
		TAKEN.put(port, lock);
		boolean free = isFree(port) && isFree(port + BUS);
		if (!free) {
			giveBack(port);
		}
		return free;
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static FileChannel open() {
		Path file = Path.of(System.getProperty("java.io.tmpdir"),
				"ratelimit-test-ports-" + System.getProperty("user.name"));
		return Unchecked.call(() -> FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
	}

}
