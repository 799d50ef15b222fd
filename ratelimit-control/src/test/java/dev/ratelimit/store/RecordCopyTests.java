package dev.ratelimit.store;

import java.time.Instant;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecordCopyTests {

	private static final RecordKey ORDERS = new RecordKey(RecordKey.Kind.POLICY, "orders");

	@Test
	void deletionThatARestoredStoreForgetsIsDroppedAlsoBelowWhatTheCopyHadForgottenBefore() {
		RecordVersion deletion = new RecordVersion(ORDERS, 3, 150, null, "ann", Instant.EPOCH, "");
		RecordCopy copy = new RecordCopy(new Snapshot("s", 500, 1, List.of(deletion), new Forgotten(400, 7)));
		copy.forget(new Forgotten(0, 7));
		assertThat(copy.get(ORDERS)).isEqualTo(deletion);
		copy.forget(new Forgotten(200, 7));
		assertThat(copy.get(ORDERS)).isNull();
		assertThat(copy.forgotten()).isEqualTo(new Forgotten(400, 7));
	}

}
