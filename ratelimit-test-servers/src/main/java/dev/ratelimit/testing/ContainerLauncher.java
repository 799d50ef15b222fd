package dev.ratelimit.testing;

import java.nio.file.Path;
import java.util.List;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs redis-server in a container with the host's network and the server's folder under
 * the same path, so that one command line and one set of addresses serve both launchers.
 * Testcontainers' reaper is the watchdog here.
 */
final class ContainerLauncher implements Launcher {

	private final DockerImageName image;

	/**
	 * Runs an image of Redis, or of Valkey, which has its server under both names.
	 */
	ContainerLauncher(String image) {
		this.image = DockerImageName.parse(image);
	}

	@Override
	public Launched launch(Path directory, List<String> arguments) {
		Bind folder = new Bind(directory.toString(), new Volume(directory.toString()));
		GenericContainer<?> container = new GenericContainer<>(this.image).withNetworkMode("host")
			.withCommand(arguments.toArray(String[]::new))
			.withCreateContainerCmdModifier((create) -> {
				// The image's own entry point would change to a user who may not write
				// to the folder.
				create.withEntrypoint("redis-server");
				create.getHostConfig().withBinds(folder);
			});
		container.start();
		return new Running(container, container.getCurrentContainerInfo().getState().getPidLong());
	}

	private record Running(GenericContainer<?> container, long pid) implements Launched {

		@Override
		public boolean alive() {
			return this.container.isRunning();
		}

		@Override
		public void freeze() {
			docker().pauseContainerCmd(this.container.getContainerId()).exec();
		}

		@Override
		public void thaw() {
			docker().unpauseContainerCmd(this.container.getContainerId()).exec();
		}

		@Override
		public void kill() {
			if (alive()) {
				docker().killContainerCmd(this.container.getContainerId()).exec();
			}
			this.container.stop();
		}

		@Override
		public String output() {
			return this.container.getLogs();
		}

		@Override
		public void close() {
			this.container.stop();
		}

		private DockerClient docker() {
			return this.container.getDockerClient();
		}

	}

}
