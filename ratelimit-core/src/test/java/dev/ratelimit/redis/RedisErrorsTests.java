package dev.ratelimit.redis;

import java.io.IOException;
import java.util.concurrent.CompletionException;

import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Decision;

import static org.assertj.core.api.Assertions.assertThat;

class RedisErrorsTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:12. | OUT_OF_MEMORY
					ERR Error running script (call to f_0): @user_script:9: -OOM command not allowed when used memory > 'maxmemory'. | OUT_OF_MEMORY
					READONLY You can't write against a read only replica. | READ_ONLY
					ERR Error running script (call to f_0): @user_script:9: -READONLY You can't write against a read only replica. | READ_ONLY
					LOADING Redis is loading the dataset in memory | LOADING
					CLUSTERDOWN Hash slot not served | CLUSTER_DOWN
					TRYAGAIN Multiple keys request during rehashing of slot | RESHARDING
					MOVED 1234 10.0.0.1:6379 | RESHARDING
					NOPERM this user has no permissions to run the 'evalsha' command | FORBIDDEN
					WRONGTYPE Operation against a key holding the wrong kind of value | CORRUPT
					BUSY Redis is busy running a script. | UNAVAILABLE
					""")
	void errorOfRedisHasItsReason(String message, Decision.Reason reason) {
		assertThat(RedisErrors.reason(message)).isEqualTo(reason);
	}

	@Test
	void fullQueueIsNotTheNodesFault() {
		RedisException full = new RedisException("Request queue size exceeded: 20000. Commands are not accepted.");
		assertThat(RedisErrors.translate(new CompletionException(full)).reason()).isEqualTo(Decision.Reason.SATURATED);
	}

	@Test
	void connectionThatBreaksIsTheNodesFault() {
		assertThat(RedisErrors.translate(new IOException("Connection reset by peer")).reason())
			.isEqualTo(Decision.Reason.UNAVAILABLE);
	}

	@Test
	void errorOfOursIsInternal() {
		assertThat(RedisErrors.translate(new NullPointerException()).reason()).isEqualTo(Decision.Reason.INTERNAL);
	}

}
