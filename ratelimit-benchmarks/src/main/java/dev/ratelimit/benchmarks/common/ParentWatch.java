package dev.ratelimit.benchmarks.common;

import java.io.IOException;

/**
 * Ends this JVM with the one that started it. Standard input ends when the parent does,
 * however that happens.
 */
public final class ParentWatch {

	private ParentWatch() {
	}

	public static void start() {
		Thread thread = new Thread(() -> {
			try {
				while (System.in.read() >= 0) {
					continue;
				}
			}
			catch (IOException ex) {
				// Ends as well.
			}
			Runtime.getRuntime().halt(1);
		}, "parent-watch");
		thread.setDaemon(true);
		thread.start();
	}

}
