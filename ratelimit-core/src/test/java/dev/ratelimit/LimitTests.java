package dev.ratelimit;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LimitTests {

	@ParameterizedTest
	@ValueSource(strings = { "", "Per-user", "per user", "-user", ".user", "per:user", "per{user", "bénutzer", "user\n",
			"a123456789012345678901234567890123456789012345678901234567890123" })
	void nameThatIsNoneIsNamed(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> Limit.of(name, List.of(), "1/s"))
			.withMessage(
					"limit '" + name + "': a name is 1 to 63 lower-case letters, digits, dots, dashes and underscores");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "7", "per-user", "per_user.v2",
			"a12345678901234567890123456789012345678901234567890123456789012" })
	void nameIsUpTo63PlainCharacters(String name) {
		assertThat(Limit.of(name, List.of(), "1/s").name()).isEqualTo(name);
	}

	@Test
	void noQuotaIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Limit.of("per-user", List.of()))
			.withMessage("limit 'per-user': needs 1 to 8 quotas but has 0");
	}

	@Test
	void eightQuotasAreAllowedAndNineRefused() {
		assertThat(Limit.of("x", List.of(), "1/1s", "1/2s", "1/3s", "1/4s", "1/5s", "1/6s", "1/7s", "1/8s").quotas())
			.hasSize(8);
		assertThatIllegalArgumentException().isThrownBy(
				() -> Limit.of("x", List.of(), "1/1s", "1/2s", "1/3s", "1/4s", "1/5s", "1/6s", "1/7s", "1/8s", "1/9s"))
			.withMessage("limit 'x': needs 1 to 8 quotas but has 9");
	}

	@Test
	void twoQuotasOfOneWindowAreRefusedHoweverTheyAreWritten() {
		assertThatIllegalArgumentException().isThrownBy(() -> Limit.of("x", List.of(), "100/m", "5/s", "200/60s"))
			.withMessage("limit 'x': two quotas have the same window, keep the smaller of them in [100/m, 5/s, 200/m]");
	}

	@Test
	void dimensionThatIsNamedTwiceIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Limit.of("x", List.of(Dimension.USER, Dimension.IP, Dimension.USER), "1/s"))
			.withMessage("limit 'x': names a dimension twice in [user, ip, user]");
	}

	@Test
	void largestCostIsTheSmallestBurst() {
		assertThat(Limit.of("x", List.of(), "100/s burst 200", "150/m", "100000/h").largestCost()).isEqualTo(150);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 65 })
	void splitIsOneToSixtyFour(int split) {
		Limit limit = Limit.of("x", List.of(), "100/s");
		assertThat(limit.split()).isOne();
		assertThat(limit.withSplit(64).split()).isEqualTo(64);
		assertThatIllegalArgumentException().isThrownBy(() -> limit.withSplit(split))
			.withMessage("limit 'x': split must be 1 to 64 but was " + split);
	}

	@ParameterizedTest
	@ValueSource(strings = { "3/s", "3/s burst 9", "9/s burst 3" })
	void everyPartNeedsAPermitOfEveryQuota(String quota) {
		Limit limit = Limit.of("x", List.of(), "100/m", quota);
		assertThat(limit.withSplit(3).split()).isEqualTo(3);
		assertThatIllegalArgumentException().isThrownBy(() -> limit.withSplit(4))
			.withMessage("limit 'x': split was 4, but quota '" + quota
					+ "' has only 3 permits for its parts; lower the split or raise the quota");
	}

	@Test
	void partThatCouldNotBeRefilledIsRefused() {
		Limit limit = Limit.of("x", List.of(), "3/31d burst 1700");
		assertThatIllegalArgumentException().isThrownBy(() -> limit.withSplit(2))
			.withMessageContaining("more than 50 years");
	}

	@Test
	void largestCostOfASplitLimitIsWhatTheLargestPartHas() {
		assertThat(Limit.of("x", List.of(), "100/s burst 201", "150/m").withSplit(4).largestCost()).isEqualTo(38);
		assertThat(Limit.of("x", List.of(), "100/s burst 120", "150/m").withSplit(4).largestCost()).isEqualTo(30);
	}

	@Test
	void scopeIsTheLastDimensionOrGlobal() {
		assertThat(Limit.of("x", List.of(), "1/s").scope()).isEqualTo("global");
		assertThat(Limit.of("x", List.of(Dimension.TENANT, Dimension.API_KEY), "1/s").scope()).isEqualTo("api-key");
	}

	@Test
	void otherQuotasLeaveNameAndDimensions() {
		Limit limit = Limit.of("x", List.of(Dimension.TENANT), "1/s");
		Limit changed = limit.withQuotas(List.of(Quota.parse("2/s")));
		assertThat(changed).isEqualTo(Limit.of("x", List.of(Dimension.TENANT), "2/s"));
		assertThatIllegalArgumentException().isThrownBy(() -> limit.withQuotas(List.of()));
	}

	@Test
	void changesToTheListsItWasMadeFromDoNotReachIt() {
		List<Dimension> by = new ArrayList<>(List.of(Dimension.USER));
		List<Quota> quotas = new ArrayList<>(List.of(Quota.parse("1/s")));
		Limit limit = new Limit("x", by, quotas);
		by.clear();
		quotas.clear();
		assertThat(limit).isEqualTo(Limit.of("x", List.of(Dimension.USER), "1/s"));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> limit.by().clear());
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> limit.quotas().clear());
	}

}
