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

	String DOCKER = "docker";

	String IMAGE = "redis:7.4.2-alpine";

	/**
	 * Starts {@code redis-server} with the given arguments.
	 * @param directory an existing folder of the server's own, which the arguments name
	 * by the same path
	 */
	Launched launch(Path directory, List<String> arguments);

	/**
	 * Chooses what {@code RATELIMIT_TEST_REDIS} says, otherwise a container when a Docker
	 * engine on this host can run it. It says {@code binary} (Redis 7.0), {@code 6.2},
	 * {@code docker} or {@code docker:IMAGE}.
	 */
	static Launcher choose() {
		String forced = System.getenv().getOrDefault("RATELIMIT_TEST_REDIS", "");
		if (forced.startsWith(DOCKER + ":")) {
			return new ContainerLauncher(forced.substring(DOCKER.length() + 1));
		}
		return switch (forced) {
			case "binary" -> new ProcessLauncher(RedisBinary.redis70());
			case "6.2" -> new ProcessLauncher(RedisBinary.redis62());
			case DOCKER -> new ContainerLauncher(IMAGE);
			case "" -> dockerRunsHere() ? new ContainerLauncher(IMAGE) : new ProcessLauncher(RedisBinary.redis70());
			default -> throw new IllegalStateException(
					"RATELIMIT_TEST_REDIS must be 'binary', '6.2', 'docker' or 'docker:IMAGE' but was '" + forced
							+ "'");
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
