package dev.ratelimit.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Hands out ports that are free together with their cluster bus port, 10000 above. Both
 * lie below the ephemeral ports of Linux and macOS, so that no outgoing connection takes
 * the port of a killed server before it is restarted.
 */
public final class Ports {

	private static final int FIRST = 11_000;

	private static final int LAST = 21_000;

	private static final int BUS = 10_000;

	private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

	private Ports() {
	}

	public static int take() {
		for (int attempt = 0; attempt < 1000; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
			if (TAKEN.add(port)) {
				if (isFree(port) && isFree(port + BUS)) {
					return port;
				}
				TAKEN.remove(port);
			}
		}
		throw new IllegalStateException("No free port between " + FIRST + " and " + LAST);
	}

	static void giveBack(int port) {
		TAKEN.remove(port);
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
