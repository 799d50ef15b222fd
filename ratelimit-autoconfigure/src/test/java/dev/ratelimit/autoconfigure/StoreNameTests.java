package dev.ratelimit.autoconfigure;

import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

class StoreNameTests {

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void hostAndDatabaseAreInTheNameAndCredentialsAreNot() {
		assertThat(named("r2dbc:pool:postgresql://ann:secret@db:5432/shop")).isEqualTo("sql-db:5432/shop");
		assertThat(named("r2dbc:postgresql://db/shop?password=secret//x@y&sslMode=require")).isEqualTo("sql-db/shop");
	}

	@Test
	void schemasOfADatabaseHaveNamesOfTheirOwn() {
		assertThat(named("r2dbc:postgresql://db/shop?ssl=true&schema=a")).isEqualTo("sql-db/shop,schema=a");
		assertThat(named("r2dbc:postgresql://db/shop?options=search_path=b"))
			.isEqualTo("sql-db/shop,options=search_path=b");
		this.environment.setProperty("spring.r2dbc.properties.schema", "c");
		assertThat(named("r2dbc:postgresql://db/shop")).isEqualTo("sql-db/shop,c");
		this.environment.setProperty("spring.r2dbc.name", "other");
		assertThat(named("r2dbc:postgresql://db/shop")).isEqualTo("sql-db/shop,other,c");
	}

	@Test
	void databaseThatIsNotConfiguredHasNoName() {
		assertThat(StoreName.sql(this.environment).text()).isEmpty();
	}

	private String named(String url) {
		this.environment.setProperty("spring.r2dbc.url", url);
		return StoreName.sql(this.environment).text();
	}

}
