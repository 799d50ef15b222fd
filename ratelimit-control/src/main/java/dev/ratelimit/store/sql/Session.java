package dev.ratelimit.store.sql;

import java.util.function.Function;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Runs statements on a connection. Values are those of {@code $1}, {@code $2} and so on.
 */
record Session(Connection connection) {

	Mono<Void> run(String sql, Object... values) {
		return results(sql, values).concatMap(Result::getRowsUpdated).then();
	}

	<T> Flux<T> rows(String sql, Function<Readable, T> reader, Object... values) {
		return results(sql, values).concatMap((result) -> result.map(reader));
	}

	private Flux<? extends Result> results(String sql, Object... values) {
		return Flux.defer(() -> {
			Statement statement = this.connection.createStatement(sql);
			for (int index = 0; index < values.length; index++) {
				statement.bind(index, values[index]);
			}
			return statement.execute();
		});
	}

}
