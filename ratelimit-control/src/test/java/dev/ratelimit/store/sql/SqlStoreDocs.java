package dev.ratelimit.store.sql;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

import dev.ratelimit.store.AuditRecord;

/**
 * What {@code docs/sql-store.md} tells operators to run.
 */
final class SqlStoreDocs {

	private SqlStoreDocs() {
	}

	/** The rights that an instance needs, given to another user than the one there. */
	static String grants(String user) {
		try {
			String page = Files.readString(Path.of("../docs/sql-store.md"));
			int start = page.indexOf("CREATE ROLE ratelimit");
			return page.substring(start, page.indexOf("```", start)).replaceAll("\\bratelimit\\b", user);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static AuditRecord entry() {
		return AuditRecord.of(Instant.now(), "policy-write", "done", "ann", "policy/orders", "", "{}", "because");
	}

}
