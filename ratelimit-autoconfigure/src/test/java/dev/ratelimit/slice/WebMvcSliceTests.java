package dev.ratelimit.slice;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.AutoConfigureMockMvc;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.servlet.MockMvc;

import dev.ratelimit.RateLimiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

@WebMvcTest(properties = "spring.data.redis.host=nosuch.invalid")
@AutoConfigureMockMvc(addFilters = false)
class WebMvcSliceTests {

	@Autowired
	private MockMvc mvc;

	@Autowired
	private ApplicationContext context;

	@Test
	void limitedControllerAnswersWithoutALimiter() throws Exception {
		this.mvc.perform(get("/orders")).andExpect(status().isOk());
		assertThat(this.context.getBeanProvider(RateLimiter.class)).isEmpty();
	}

}
