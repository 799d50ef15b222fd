package dev.ratelimit.benchmarks.gateway;

import java.nio.file.Path;

import dev.ratelimit.benchmarks.common.ChildProgram;

/**
 * The service behind the gateway: answers everything with a few bytes.
 */
public interface Upstream extends AutoCloseable {

	/** nginx if it is installed, else a lean server in this JVM. */
	static Upstream start() {
		Path nginx = ChildProgram.find("nginx");
		return (nginx != null) ? NginxUpstream.start(nginx) : new BuiltInUpstream();
	}

	int port();

	/** Processor time used so far by processes other than this JVM, in seconds. */
	double cpuSeconds();

	@Override
	void close();

}
