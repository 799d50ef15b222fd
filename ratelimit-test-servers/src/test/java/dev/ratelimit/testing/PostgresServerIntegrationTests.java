package dev.ratelimit.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class PostgresServerIntegrationTests {

	@Test
	void newDatabaseIsEmpty() {
		PostgresServer server = PostgresServer.shared();
		String database = server.newDatabase();
		server.execute(database, "CREATE TABLE notes (text TEXT)");
		assertThat(server.query(database, "SELECT text FROM notes")).isEmpty();
		server.execute(server.newDatabase(), "CREATE TABLE notes (text TEXT)");
	}

	@Test
	void killedServerHasItsDataAfterARestart() {
		try (PostgresServer server = PostgresServer.start()) {
			String database = server.newDatabase();
			server.execute(database, "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('kept')");
			long pid = server.pid();
			server.kill();
			assertThat(ProcessHandle.of(pid)).isEmpty();
			server.restart();
			assertThat(server.query(database, "SELECT text FROM notes")).containsExactly("kept");
		}
	}

	@Test
	void killedJvmLeavesNoServerBehind() throws IOException {
		Process jvm = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), StartServer.class.getName())
			.redirectErrorStream(true)
			.start();
		try (BufferedReader output = new BufferedReader(
				new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8))) {
			String line = output.lines().filter((text) -> text.startsWith("pid=")).findFirst().orElseThrow();
			long pid = Long.parseLong(line.substring("pid=".length()));
			assertThat(ProcessHandle.of(pid)).isPresent();
			jvm.destroyForcibly();
			await().atMost(Duration.ofSeconds(30)).until(() -> ProcessHandle.of(pid).isEmpty());
		}
	}

	/** Starts a server and waits to be killed. */
	static final class StartServer {

		private StartServer() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			System.out.println("pid=" + PostgresServer.start().pid());
			Thread.currentThread().join();
		}

	}

}
