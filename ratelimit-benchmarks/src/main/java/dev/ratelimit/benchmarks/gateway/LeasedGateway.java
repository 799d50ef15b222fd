package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisURI;
import io.netty.buffer.ByteBuf;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.HttpConnections;

/**
 * A gateway with a leased limit, in a JVM of its own, asked over HTTP by one thread. A
 * check is a request on a connection that has no other one. While all connections are
 * busy, requests wait, so the sender keeps its rate. Answers of the failure mode and
 * errors count as failed.
 */
public final class LeasedGateway implements Contender {

	private static final Route ROUTE = Route.LEASED;

	/**
	 * With more than this unanswered, checks fail; no gateway that keeps up gets there.
	 */
	private static final int MOST_UNANSWERED = 20_000;

	private final Upstream upstream = Upstream.start();

	private final GatewayProcess gateway;

	private final HttpConnections http;

	private final ByteBuf[] requests;

	private final AtomicInteger unanswered = new AtomicInteger();

	/**
	 * Starts upstream and gateway.
	 * @param callers by address
	 * @param connections at most
	 * @param deadline of a check
	 */
	public LeasedGateway(RedisURI redis, int callers, int connections, Duration deadline) throws IOException {
		this.requests = BuiltInLoad.requests(ROUTE.path(), callers);
		try {
			this.gateway = new GatewayProcess(redis, this.upstream.port(), deadline);
		}
		catch (IOException | RuntimeException ex) {
			this.upstream.close();
			throw ex;
		}
		this.http = new HttpConnections(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.gateway.port()),
				connections);
	}

	@Override
	public void check(int key, Answer answer) {
		if (this.unanswered.incrementAndGet() > MOST_UNANSWERED) {
			this.unanswered.decrementAndGet();
			answer.complete(Outcome.FAILED);
			return;
		}
		this.http.send(this.requests[key].duplicate(), (outcome) -> {
			this.unanswered.decrementAndGet();
			answer.complete(outcome);
		});
	}

	/** Processor time that the gateway has used, in seconds. */
	public double cpuSeconds() {
		return this.gateway.cpuSeconds();
	}

	@Override
	public void close() {
		this.gateway.close();
		this.upstream.close();
		this.http.close();
	}

	/** For the output. */
	@Override
	public String toString() {
		return "a gateway, " + this.upstream;
	}

}
