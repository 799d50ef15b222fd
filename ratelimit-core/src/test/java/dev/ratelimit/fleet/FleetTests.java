package dev.ratelimit.fleet;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FleetTests {

	@Test
	void sizeIsWhatIsExpectedUntilOneWasSeen() {
		Fleet fleet = new Fleet(4);
		assertThat(fleet.size()).isEqualTo(4);
		fleet.seen(2);
		assertThat(fleet.size()).isEqualTo(2);
	}

	@Test
	void incompleteCountNeverLowersTheSize() {
		Fleet fleet = new Fleet(4);
		fleet.seenAtLeast(1);
		assertThat(fleet.size()).isEqualTo(4);
		fleet.seenAtLeast(5);
		assertThat(fleet.size()).isEqualTo(5);
	}

	@Test
	void thereIsAlwaysOne() {
		Fleet fleet = new Fleet(1);
		fleet.seen(0);
		assertThat(fleet.size()).isOne();
		assertThatIllegalArgumentException().isThrownBy(() -> new Fleet(0)).withMessageContaining("at least 1");
	}

	@Test
	void everyInstanceHasAnIdOfItsOwn() {
		Fleet fleet = new Fleet(1);
		assertThat(fleet.instance()).isNotBlank().isEqualTo(fleet.instance()).isNotEqualTo(new Fleet(1).instance());
	}

}
