package dev.ratelimit.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A real PostgreSQL on a free port of this host, which a test can freeze, kill and
 * restart. Its data outlives its process. It dies with this JVM, however the JVM ends.
 */
public final class PostgresServer implements AutoCloseable {

	public static final String USER = "postgres";

	/**
	 * Reads a pipe whose end comes with the JVM's, also when it is killed. Without the
	 * postmaster its children end by themselves; they may write until then.
	 */
	private static final String WATCHDOG = """
			read -r close && exit
			kill -9 $(head -n 1 "$0/data/postmaster.pid"); sleep 1; rm -rf "$0"
			""";

	private static final AtomicInteger DATABASES = new AtomicInteger();

	private final int port = Ports.take();

	private final Path home;

	private final Process watchdog;

	private EmbeddedPostgres postgres;

	private PostgresServer() throws IOException {
		this.home = Files.createTempDirectory("postgres-" + this.port + "-");
		this.watchdog = new ProcessBuilder("sh", "-c", WATCHDOG, this.home.toString())
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		this.postgres = launch();
	}

	/** A server of the caller's own. */
	public static PostgresServer start() {
		return Unchecked.call(PostgresServer::new);
	}

	/**
	 * The server that all tests of this JVM share; it is not to be frozen or killed.
	 */
	public static PostgresServer shared() {
		return Shared.SERVER;
	}

	public String host() {
		return ServerHome.HOST;
	}

	public int port() {
		return this.port;
	}

	/** The pid of the postmaster; a restart changes it. */
	public long pid() {
		Path file = this.home.resolve("data/postmaster.pid");
		return Long.parseLong(Unchecked.call(() -> Files.readAllLines(file)).get(0).trim());
	}

	/** Makes an empty database, which is all that shared tests need to be alone. */
	public String newDatabase() {
		String name = "test" + DATABASES.incrementAndGet();
		execute(USER, "CREATE DATABASE " + name);
		return name;
	}

	/**
	 * Runs one statement.
	 * @return the first column of its rows
	 */
	public List<String> query(String database, String sql) {
		try (Connection connection = this.postgres.getDatabase(USER, database).getConnection();
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			List<String> values = new ArrayList<>();
			while (rows.next()) {
				values.add(rows.getString(1));
			}
			return values;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	/** Runs statements that return nothing. */
	public void execute(String database, String sql) {
		try (Connection connection = this.postgres.getDatabase(USER, database).getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	/** Stops all processes (SIGSTOP): connections stay open and nothing answers. */
	public void freeze() {
		signal("STOP");
	}

	/** Lets frozen processes go on (SIGCONT). */
	public void thaw() {
		signal("CONT");
	}

	/** Ends all processes (SIGKILL) and returns when they are gone. */
	public void kill() {
		List<ProcessHandle> processes = processes();
		processes.forEach(ProcessHandle::destroyForcibly);
		processes.forEach((process) -> process.onExit().orTimeout(10, TimeUnit.SECONDS).join());
	}

	/** Starts a killed server anew, on the same port and with its data. */
	public void restart() {
		this.postgres = Unchecked.call(() -> {
			this.postgres.close();
			return launch();
		});
	}

	/** Ends the server and removes its files. */
	@Override
	public void close() {
		thaw();
		kill();
		Unchecked.call(() -> {
			this.watchdog.outputWriter().append("close\n").close();
			this.postgres.close();
			return this.postgres;
		});
		ServerHome.delete(this.home);
		Ports.giveBack(this.port);
	}

	// As a production server: what it has acknowledged is there after a crash.
	private EmbeddedPostgres launch() throws IOException {
		return EmbeddedPostgres.builder()
			.setPort(this.port)
			.setDataDirectory(this.home.resolve("data"))
			.setCleanDataDirectory(false)
			.setRegisterShutdownHook(false)
			.setServerConfig("synchronous_commit", "on")
			.setPGStartupWait(Duration.ofSeconds(30))
			.start();
	}

	/** The postmaster and all it has started, which are in sessions of their own. */
	private List<ProcessHandle> processes() {
		return ProcessHandle.of(pid())
			.stream()
			.flatMap((it) -> Stream.concat(Stream.of(it), it.descendants()))
			.toList();
	}

	private void signal(String name) {
		String pids = processes().stream()
			.map((process) -> Long.toString(process.pid()))
			.collect(Collectors.joining(" "));
		if (!pids.isEmpty()) {
			ProcessLauncher.signal(name, pids);
		}
	}

	/** Ends with the JVM, by its watchdog. */
	private static final class Shared {

		static final PostgresServer SERVER = start();

	}

}
