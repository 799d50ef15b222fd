package dev.ratelimit.counter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PermitsTests {

	@ParameterizedTest
	@CsvSource({ "5, 5, 5", "5, 4, 0", "5, 6, 5", "5, 0, 0", "1, 1, 1", "1, 0, 0", "0, 10, 0" })
	void exactlyTakesAllOrNothing(long cost, long available, long taken) {
		assertThat(Permits.exactly(cost).of(available)).isEqualTo(taken);
	}

	@ParameterizedTest
	@CsvSource({ "2, 5, 10, 5", "2, 5, 5, 5", "2, 5, 4, 4", "2, 5, 2, 2", "2, 5, 1, 0", "2, 5, 0, 0", "5, 5, 7, 5",
			"5, 5, 4, 0", "1, 90000000, 89999999, 89999999" })
	void betweenTakesWhatIsThereFromTheLeastToTheMost(long least, long most, long available, long taken) {
		assertThat(Permits.between(least, most).of(available)).isEqualTo(taken);
	}

	@ParameterizedTest
	@CsvSource({ "3, 3, 12, 12, 12", "3, 3, 12, 11, 9", "3, 3, 12, 3, 3", "3, 3, 12, 2, 0", "3, 6, 12, 5, 0",
			"3, 6, 12, 8, 6", "3, 3, 10, 100, 9", "3, 4, 10, 5, 0" })
	void takesWholeMultiplesOfTheUnit(long unit, long least, long most, long available, long taken) {
		assertThat(new Permits(unit, least, most).of(available)).isEqualTo(taken);
	}

	@Test
	void noneOnlyLooks() {
		assertThat(Permits.NONE.of(Long.MAX_VALUE)).isZero();
		assertThat(Permits.exactly(0)).isSameAs(Permits.NONE);
		assertThat(Permits.between(0, 0)).isSameAs(Permits.NONE);
	}

	@Test
	void betweenOneNumberIsExactlyThat() {
		assertThat(Permits.between(7, 7)).isEqualTo(Permits.exactly(7)).isEqualTo(new Permits(7, 7, 7));
		assertThat(Permits.exactly(1)).isEqualTo(new Permits(1, 1, 1));
	}

	@ParameterizedTest
	@CsvSource({ "-1, 0, 0", "0, 0, 5", "0, 1, 1", "2, 1, 5", "1, 5, 4", "1, 0, 4", "1, -1, 4", "-1, -1, -1" })
	void whatCannotBeTakenIsAnArgumentError(long unit, long least, long most) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Permits(unit, least, most))
			.withMessage("cannot take " + least + " to " + most + " permits in multiples of " + unit);
	}

	@Test
	void negativeCostIsAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> Permits.exactly(-1));
		assertThatIllegalArgumentException().isThrownBy(() -> Permits.between(0, 5));
	}

}
