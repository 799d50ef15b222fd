package dev.ratelimit.benchmarks.gen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import dev.ratelimit.benchmarks.load.Arrival;
import dev.ratelimit.benchmarks.load.Arrivals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AccessLogTests {

	static final String LINE = "192.0.2.7 - frank [10/Oct/2000:13:55:36 -0700] \"GET /orders/7?page=2 HTTP/1.0\" 200 2326 "
			+ "\"http://www.example.com/start.html\" \"Mozilla/4.08 [en] (Win98; I ;Nav)\"";

	@TempDir
	private Path directory;

	@Test
	void lineOfTheCombinedFormatIsARequest() {
		assertThat(AccessLog.parse(LINE))
			.isEqualTo(new AccessLog.Entry(971211336, "192.0.2.7", "frank", "GET", "/orders/7?page=2"));
	}

	@Test
	void otherLinesAreCountedAndSkipped() throws IOException {
		AccessLog log = log(LINE, "", "no request at all", LINE.replace("GET /orders", "\\x16\\x03 /orders"),
				LINE.replace("10/Oct", "40/Oct"), LINE.replace("GET /orders", "GET http://192.0.2.9/orders"));

		assertThat(log.requests()).hasSize(1);
		assertThat(log.skipped()).isEqualTo(5);
	}

	@Test
	void requestsOfASecondAreSpreadOverItAndLateLinesAreSorted() throws IOException {
		AccessLog log = log(at(36), at(38), at(36), at(38), at(38), at(36), at(38));

		assertThat(log.seconds()).isEqualTo(3);
		assertThat(dueMillis(log.arrivals(1))).containsExactly(0L, 333L, 666L, 2_000L, 2_250L, 2_500L, 2_750L);
		assertThat(dueMillis(log.arrivals(10))).containsExactly(0L, 33L, 66L, 200L, 225L, 250L, 275L);
	}

	@Test
	void fileWithoutARequestIsAnError() {
		assertThatIllegalArgumentException().isThrownBy(() -> log("nothing")).withMessageContaining("combined format");
	}

	private AccessLog log(String... lines) throws IOException {
		return AccessLog.read(Files.write(this.directory.resolve("access.log"), List.of(lines)));
	}

	private static String at(int second) {
		return LINE.replace(":36 ", ":" + second + " ");
	}

	private static List<Long> dueMillis(Arrivals arrivals) {
		List<Long> due = new ArrayList<>();
		for (Arrival next = arrivals.next(); next != null; next = arrivals.next()) {
			due.add(next.dueNanos() / 1_000_000);
		}
		return due;
	}

}
