package dev.ratelimit.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.testcontainers.DockerClientFactory;

/**
 * Starts redis-server processes, so that {@link RedisServer} need not know whether one
 * runs in a container or as a plain process.
 */
interface Launcher {

	/**
	 * Starts {@code redis-server} with the given arguments.
	 * @param directory an existing folder of the server's own, which the arguments name
	 * by the same path
	 */
	Launched launch(Path directory, List<String> arguments);

	/**
	 * Chooses what {@code RATELIMIT_TEST_REDIS} (binary or docker) says, otherwise a
	 * container when a Docker engine on this host can run it.
	 */
	static Launcher choose() {
		String forced = System.getenv().getOrDefault("RATELIMIT_TEST_REDIS", "");
		return switch (forced) {
			case "binary" -> new ProcessLauncher();
			case "docker" -> new ContainerLauncher();
			case "" -> dockerRunsHere() ? new ContainerLauncher() : new ProcessLauncher();
			default -> throw new IllegalStateException(
					"RATELIMIT_TEST_REDIS must be 'binary' or 'docker' but was '" + forced + "'");
		};
	}

	/**
	 * Looks at the environment first: without an engine {@code isDockerAvailable} takes
	 * 0.8 s and logs an error. Cluster and Sentinel nodes tell clients their own
	 * addresses, so only an engine whose host network is ours will do.
	 */
	private static boolean dockerRunsHere() {
		boolean configured = System.getenv("DOCKER_HOST") != null || Files.exists(Path.of("/var/run/docker.sock"));
		return configured && "Linux".equals(System.getProperty("os.name"))
				&& DockerClientFactory.instance().isDockerAvailable()
				&& "localhost".equals(DockerClientFactory.instance().dockerHostIpAddress());
	}

	/** One running server; {@code close} ends it whatever its state. */
	interface Launched extends AutoCloseable {

		long pid();

		boolean alive();

		void freeze();

		void thaw();

		/** Ends the server without a goodbye and returns when it is gone. */
		void kill();

		/** What the server has printed, for the message of a failed start. */
		String output();

		@Override
		void close();

	}

}
