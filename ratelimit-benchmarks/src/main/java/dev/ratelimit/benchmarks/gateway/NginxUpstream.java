package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;

import dev.ratelimit.benchmarks.common.ChildProgram;

/**
 * nginx with one process, which writes no log and keeps connections.
 */
final class NginxUpstream implements Upstream {

	private static final String CONFIGURATION = """
			daemon off;
			master_process off;
			pid %1$s/nginx.pid;
			error_log %1$s/error.log;
			events { worker_connections 1024; }
			http {
			  access_log off;
			  client_body_temp_path %1$s/body;
			  proxy_temp_path %1$s/proxy;
			  fastcgi_temp_path %1$s/fastcgi;
			  keepalive_requests 100000000;
			  keepalive_timeout 3600s;
			  server {
			    listen 127.0.0.1:%2$d;
			    location / { default_type text/plain; return 200 "ok"; }
			  }
			}
			""";

	private final ChildProgram program;

	private NginxUpstream(ChildProgram program) {
		this.program = program;
	}

	static NginxUpstream start(Path nginx) {
		ChildProgram program = ChildProgram.start("nginx",
				(directory, port) -> List.of(nginx.toString(), "-c", configuration(directory, port).toString()));
		try {
			Awaitility.await()
				.atMost(Duration.ofSeconds(10))
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(20))
				.until(() -> !program.alive() || listens(program.port()));
			if (!program.alive()) {
				throw new IllegalStateException("nginx did not start");
			}
			return new NginxUpstream(program);
		}
		catch (RuntimeException ex) {
			program.close();
			throw ex;
		}
	}

	private static Path configuration(Path directory, int port) {
		try {
			return Files.writeString(directory.resolve("nginx.conf"), CONFIGURATION.formatted(directory, port));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean listens(int port) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Override
	public int port() {
		return this.program.port();
	}

	@Override
	public double cpuSeconds() {
		return this.program.cpuSeconds();
	}

	@Override
	public void close() {
		this.program.close();
	}

	@Override
	public String toString() {
		return "nginx";
	}

}
