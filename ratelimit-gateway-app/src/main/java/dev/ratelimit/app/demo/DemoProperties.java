package dev.ratelimit.app.demo;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the demo.
 *
 * @param remote Whether callers from other hosts are given tokens, as containers need it.
 */
@ConfigurationProperties("ratelimit.demo")
record DemoProperties(@DefaultValue("false") boolean remote) {
}
