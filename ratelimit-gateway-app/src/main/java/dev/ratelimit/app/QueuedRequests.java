package dev.ratelimit.app;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServer;

/**
 * Keeps reading from connections whose next request came early and had to queue. Reactor
 * Netty 1.2.18 never does again if that request is answered before its end has left the
 * queue too, as a refusal is (reactor/reactor-netty#4361, 1.3.8 has the fix). Handling a
 * request as a task of its own lets the queue be emptied first. Scanned for the gateway's
 * port; the management port's server has only the customizers of its own context.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class QueuedRequests implements WebServerFactoryCustomizer<NettyReactiveWebServerFactory> {

	@Override
	public void customize(NettyReactiveWebServerFactory factory) {
		factory.addServerCustomizers(QueuedRequests::handleLater);
	}

	private static HttpServer handleLater(HttpServer server) {
		return server.mapHandle((handling, connection) -> handling
			.subscribeOn(Schedulers.fromExecutor(connection.channel().eventLoop()::execute)));
	}

}
