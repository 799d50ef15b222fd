package dev.ratelimit.testing;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.lettuce.core.RedisURI;

/**
 * A real redis-server on a free port of this host, which a test can stop, kill, restart
 * and flush. It dies with this JVM, however the JVM ends.
 */
public final class RedisServer implements AutoCloseable {

	private final ServerHome home;

	private final List<String> options;

	private volatile Launcher.Launched process;

	private volatile boolean frozen;

	private boolean disturbed;

	private RedisServer(ServerHome home, List<String> options) {
		this.home = home;
		this.options = options;
		this.process = home.launch(options);
	}

	/**
	 * Starts a server of the caller's own.
	 * @param options further options of redis-server, for example
	 * {@code "--maxmemory", "5mb"}
	 */
	public static RedisServer start(String... options) {
		for (int attempt = 1;; attempt++) {
			ServerHome home = ServerHome.create();
			try {
				return new RedisServer(home, List.of(options));
			}
			catch (IllegalStateException ex) {
				home.delete();
				// Another JVM may have been faster to take the port.
				if (attempt == 3 || !ex.getMessage().contains("already in use")) {
					throw ex;
				}
			}
		}
	}

	public String host() {
		return ServerHome.HOST;
	}

	public int port() {
		return this.home.port();
	}

	public RedisURI uri() {
		return RedisURI.create(ServerHome.HOST, this.home.port());
	}

	/** The pid of redis-server itself; a restart changes it. */
	public long pid() {
		return this.process.pid();
	}

	/** Whether the process exists, be it frozen or not. */
	public boolean alive() {
		return this.process.alive();
	}

	/** Stops the process (SIGSTOP): connections stay open and nothing answers. */
	public synchronized void freeze() {
		if (!alive()) {
			throw new IllegalStateException(this + " is dead and cannot be frozen");
		}
		if (!this.frozen) {
			this.disturbed = true;
			this.process.freeze();
			this.frozen = true;
		}
	}

	/** Lets a frozen process go on (SIGCONT), with all that was sent in between. */
	public synchronized void thaw() {
		if (this.frozen) {
			this.process.thaw();
			this.frozen = false;
		}
	}

	/** Ends the process (SIGKILL) and returns when it is gone. */
	public synchronized void kill() {
		this.disturbed = true;
		this.process.kill();
		this.frozen = false;
	}

	/**
	 * Starts the process anew on the same port, killing it first if need be. Only data
	 * that this test wrote to disk with SAVE is still there, and what the server knows of
	 * its cluster or primary.
	 */
	public synchronized void restart() {
		kill();
		this.process = this.home.launch(this.options);
	}

	public void flush() {
		String reply = sendInline("FLUSHALL");
		if (!reply.equals("+OK")) {
			throw new IllegalStateException("FLUSHALL on " + this + ": " + reply);
		}
	}

	/** Empties the server, and what it would load after a restart. */
	void forget() {
		flush();
		this.home.forget();
	}

	/**
	 * Runs one command, for example {@code cli("CONFIG", "GET", "maxmemory")}.
	 * @return the reply as text, one line per element
	 */
	public String cli(String... command) {
		return Commands.send(uri(), command);
	}

	/** A section of INFO, for example {@code info("memory").get("used_memory")}. */
	public Map<String, String> info(String section) {
		return cli("INFO", section).lines()
			.map((line) -> line.split(":", 2))
			.filter((field) -> field.length == 2)
			.collect(Collectors.toMap((field) -> field[0], (field) -> field[1]));
	}

	/**
	 * How often a command was called since the server started.
	 * @param command in lower case, for example {@code "evalsha"} or
	 * {@code "script|load"}
	 */
	public long calls(String command) {
		String statistics = info("commandstats").getOrDefault("cmdstat_" + command, "calls=0,");
		return Long.parseLong(statistics.substring("calls=".length(), statistics.indexOf(',')));
	}

	/** Ends the process and removes its files. */
	@Override
	public synchronized void close() {
		this.process.close();
		this.home.delete();
	}

	@Override
	public String toString() {
		return "redis-server " + ServerHome.HOST + ":" + this.home.port();
	}

	/** Whether the server can answer now. */
	boolean responsive() {
		return !this.frozen && alive();
	}

	/**
	 * Makes a frozen or dead server run again.
	 * @return whether it was frozen, killed or restarted since the last call
	 */
	synchronized boolean revive() {
		boolean result = this.disturbed || !alive();
		thaw();
		if (!alive()) {
			restart();
		}
		this.disturbed = false;
		return result;
	}

	String sendInline(String command) {
		return Unchecked.call(() -> Commands.sendInline(ServerHome.HOST, this.home.port(), command));
	}

}
