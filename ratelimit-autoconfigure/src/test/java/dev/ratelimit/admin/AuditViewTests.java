package dev.ratelimit.admin;

import org.junit.jupiter.api.Test;

import dev.ratelimit.store.AuditReport;

import static org.assertj.core.api.Assertions.assertThat;

class AuditViewTests {

	@Test
	void verificationThatRanOutOfTimeIsUnfinished() {
		assertThat(result(new AuditReport(false, 5, null, false, null, 0, null, 0))).isEqualTo("unfinished");
		assertThat(result(new AuditReport(false, 5, null, false, null, 2, null, 0))).isEqualTo("unfinished");
	}

	@Test
	void brokenEntryIsShownAlsoIfTheTimeWasOver() {
		AuditReport.Problem problem = new AuditReport.Problem(null, "All chained entries are missing.");
		assertThat(result(new AuditReport(false, 0, null, false, problem, 0, null, 0))).isEqualTo("broken");
	}

	private static Object result(AuditReport report) {
		return AuditView.of(report).get("result");
	}

}
