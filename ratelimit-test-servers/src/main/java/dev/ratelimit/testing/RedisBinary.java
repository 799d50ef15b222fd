package dev.ratelimit.testing;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

import redis.embedded.RedisExecProvider;

/**
 * The redis-server binaries that come inside Maven artifacts, each copied to a folder of
 * this JVM's own.
 */
final class RedisBinary {

	/** Where the build of this module unpacks Redis 6.2. */
	private static final Path UNPACKED = Path.of("target", "redis-6.2");

	private RedisBinary() {
	}

	static Path redis70() {
		return Unchecked.call(RedisExecProvider.defaultProvider()::get).toPath().toAbsolutePath();
	}

	/**
	 * The oldest Redis that is supported. Its artifact has classes of the same names as
	 * the one of Redis 7.0, so it is not on the class path.
	 */
	static Path redis62() {
		Path binary = copy(version());
		if (!runs(binary)) {
			throw new IllegalStateException(
					binary.getFileName() + " does not run here. On Linux with amd64 it needs OpenSSL 3 (libssl.so.3).");
		}
		return binary;
	}

	/** Not the one for 386: the contract and parity tests fail on it. */
	private static String version() {
		boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac");
		boolean arm = System.getProperty("os.arch").equals("aarch64");
		if (mac) {
			return "6.2.6-v5-darwin-" + (arm ? "arm64" : "amd64");
		}
		return arm ? "6.2.7-linux-arm64" : "6.2.6-v5-linux-amd64";
	}

	private static Path copy(String version) {
		String name = "redis-server-" + version;
		Path copy = Unchecked.call(() -> Files.createTempDirectory("redis-6.2-")).resolve(name);
		Unchecked.call(() -> Files.copy(UNPACKED.resolve(name), copy));
		File file = copy.toFile();
		file.setExecutable(true);
		file.getParentFile().deleteOnExit();
		file.deleteOnExit();
		return copy;
	}

	private static boolean runs(Path binary) {
		try {
			Process process = new ProcessBuilder(binary.toString(), "--version").start();
			return new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).contains(" v=6.2.");
		}
		catch (IOException ex) {
			return false;
		}
	}

}
