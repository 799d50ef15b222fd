package dev.ratelimit.autoconfigure;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;

import dev.ratelimit.Sha256;
import dev.ratelimit.config.InvalidPolicyException;

/**
 * Where the snapshot file is. By default it is among the user's state files and named
 * after application, port, store and prefix, so that instances on one host and stores of
 * one application do not share it.
 */
final class SnapshotPath {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final String PROPERTY = "ratelimit.policies-store.snapshot-file";

	/** Four of them and the digest are below the 255 bytes of a name. */
	private static final int MAX_PART = 50;

	private SnapshotPath() {
	}

	/**
	 * Path of the file.
	 * @param configured a path, {@code auto} or {@code none}
	 * @param store address of the store, empty if it is unknown: then {@code auto} has no
	 * file, since it could be that of another store
	 * @return {@code null} if there shall be none
	 */
	static @Nullable Path of(String configured, Environment environment, String store, String prefix) {
		if (configured.isBlank() || configured.equals("none")) {
			return null;
		}
		if (!configured.equals("auto")) {
			return path(configured);
		}
		if (store.isEmpty()) {
			return none("The address of the policy store is unknown");
		}
		Path folder = folder(environment);
		return (folder != null) ? folder.resolve("ratelimit").resolve(name(environment, store, prefix))
				: none("The home directory of this user is unknown");
	}

	private static @Nullable Path none(String why) {
		logger.warn("{}: there is no snapshot file, and a restart while the policy store is away would begin without "
				+ "its policies. Set {} to a path, or to none", why, PROPERTY);
		return null;
	}

	private static Path path(String configured) {
		try {
			return Path.of(configured);
		}
		catch (InvalidPathException ex) {
			throw new InvalidPolicyException("'" + PROPERTY + "' is not a path: " + ex.getReason() + ".",
					"Set it to a path, to auto or to none.");
		}
	}

	/**
	 * As the XDG specification says, a relative path does not count. A user without an
	 * entry in the system has "?" as home.
	 */
	private static @Nullable Path folder(Environment environment) {
		Path state = absolute(environment.getProperty("XDG_STATE_HOME", ""));
		if (state != null) {
			return state;
		}
		Path home = absolute(environment.getProperty("user.home", ""));
		return (home != null) ? home.resolve(".local").resolve("state") : null;
	}

	/** With the locale POSIX, a folder with an umlaut in its name cannot be named. */
	private static @Nullable Path absolute(String folder) {
		try {
			Path path = Path.of(folder);
			return path.isAbsolute() ? path : null;
		}
		catch (InvalidPathException ex) {
			return null;
		}
	}

	private static String name(Environment environment, String store, String prefix) {
		List<String> parts = Stream
			.of(environment.getProperty("spring.application.name", "application"), port(environment), store, prefix)
			.filter((part) -> !part.isEmpty())
			.toList();
		String readable = parts.stream().map(SnapshotPath::readable).collect(Collectors.joining("-"));
		// The whole parts may be longer or have other letters.
		return readable + "-" + Sha256.hex(String.join("\n", parts)).substring(0, 8) + ".snapshot";
	}

	/** Ports that the system chooses are others at the next start. */
	private static String port(Environment environment) {
		String port = environment.getProperty("server.port", "");
		return port.matches("[1-9][0-9]*") ? port : "";
	}

	private static String readable(String part) {
		String safe = part.replaceAll("[^A-Za-z0-9.]+", "_");
		return safe.substring(0, Math.min(safe.length(), MAX_PART));
	}

}
