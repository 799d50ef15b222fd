package dev.ratelimit.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PortsIntegrationTests {

	@Test
	void portIsNotTakenTwice() {
		int port = Ports.take();
		assertThat(Ports.tryTake(port)).isFalse();
		Ports.giveBack(port);
		assertThat(Ports.tryTake(port)).isTrue();
		Ports.giveBack(port);
	}

	/** Nothing listens there, as while a killed server is about to be restarted. */
	@Test
	void portOfAnotherJvmIsNotTaken() throws IOException {
		int port = Ports.take();
		assertThat(takenByAnotherJvm(port)).isEqualTo("false");
		Ports.giveBack(port);
		assertThat(takenByAnotherJvm(port)).isEqualTo("true");
		// It has ended, and its lock with it.
		assertThat(Ports.tryTake(port)).isTrue();
		Ports.giveBack(port);
	}

	private static String takenByAnotherJvm(int port) throws IOException {
		Process jvm = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), TakePort.class.getName(), String.valueOf(port))
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		String output = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).trim();
		jvm.onExit().join();
		return output;
	}

	/** Tries to take a port and ends. */
	static final class TakePort {

		private TakePort() {
		}

		public static void main(String[] arguments) {
			System.out.println(Ports.tryTake(Integer.parseInt(arguments[0])));
		}

	}

}
