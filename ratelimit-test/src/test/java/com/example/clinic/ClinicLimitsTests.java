package com.example.clinic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.ResultActions;

import dev.ratelimit.test.RateLimitTest;
import dev.ratelimit.test.SettableClock;

import static dev.ratelimit.test.HttpAnswerAssert.assertThatMvc;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/**
 * The starter and these properties limit an application that knows nothing of them.
 */
@RateLimitTest
@WebMvcTest(properties = { "spring.main.web-application-type=servlet", "ratelimit.policies.reads.limits.per-ip.by=ip",
		"ratelimit.policies.reads.limits.per-ip.quota=3/m", "ratelimit.policies.writes.limits.per-ip.by=ip",
		"ratelimit.policies.writes.limits.per-ip.quota=1/m", "ratelimit.urls.owners.path=/owners/**",
		"ratelimit.urls.owners.policy=reads", "ratelimit.urls.new-owners.path=/owners/**",
		"ratelimit.urls.new-owners.methods=POST", "ratelimit.urls.new-owners.policy=writes" })
class ClinicLimitsTests {

	@Autowired
	private MockMvc mvc;

	@Autowired
	private SettableClock clock;

	@Test
	void readsAreLimited() throws Exception {
		assertThatMvc(read()).isNotRefused().hasPolicy("reads").hasRemaining(2);
		assertThatMvc(this.mvc.perform(get("/owners/4711"))).isNotRefused().hasRemaining(1);
		assertThatMvc(read()).isNotRefused().hasRemaining(0);
		assertThatMvc(read()).isRefusedBy("per-ip").hasPolicy("reads").hasRetryAfterOfAtLeast(Duration.ofSeconds(20));
	}

	@Test
	void permitsComeBackAsTheClockMoves() throws Exception {
		for (int i = 0; i < 3; i++) {
			assertThatMvc(read()).isNotRefused();
		}
		assertThatMvc(read()).isRefused();
		this.clock.advance(Duration.ofSeconds(20));
		assertThatMvc(read()).isNotRefused();
		assertThatMvc(read()).isRefused();
	}

	@Test
	void refusedWriteTakesNoRead() throws Exception {
		assertThatMvc(write()).isNotRefused();
		assertThatMvc(write()).isRefused().hasPolicy("writes");
		assertThatMvc(read()).isNotRefused().hasRemaining(1);
	}

	@Test
	void otherPathsAreNotLimited() throws Exception {
		for (int i = 0; i < 5; i++) {
			assertThatMvc(this.mvc.perform(get("/vets"))).isNotRefused();
		}
	}

	@Test
	void applicationHasNoTypeOfOurs() throws IOException {
		try (Stream<Path> sources = Files.list(Path.of("src/test/java/com/example/clinic"))) {
			assertThat(sources.filter((source) -> !source.toString().endsWith("Tests.java"))).hasSize(3)
				.allSatisfy((source) -> assertThat(source).content().doesNotContain("dev.ratelimit"));
		}
	}

	private ResultActions read() throws Exception {
		return this.mvc.perform(get("/owners"));
	}

	private ResultActions write() throws Exception {
		return this.mvc
			.perform(post("/owners").contentType(MediaType.APPLICATION_JSON).content("{\"name\": \"Jean\"}"));
	}

}
