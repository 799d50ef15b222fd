package dev.ratelimit.app.demo;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the demo.
 *
 * @param remote Whether other hosts can connect and are given tokens, as containers need
 * it; otherwise it listens on 127.0.0.1 only.
 */
@ConfigurationProperties("ratelimit.demo")
record DemoProperties(@DefaultValue("false") boolean remote) {
}
