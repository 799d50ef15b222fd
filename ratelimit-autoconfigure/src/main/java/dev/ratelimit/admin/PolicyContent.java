package dev.ratelimit.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.Sha256;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.json.Json;

/**
 * Contents of policies for the audit trail: the fields in which a policy differs from
 * another one. Overrides name callers, so a text only says that they differ.
 */
final class PolicyContent {

	/** Room for the text, with a version before it. */
	private static final int MOST = 1_900;

	private static final String OVERRIDES = "overrides";

	private final RecordReader reader;

	PolicyContent(RecordReader reader) {
		this.reader = reader;
	}

	/**
	 * The fields of a policy that another one does not have alike; empty for no policy. A
	 * text that is too long ends with the digest of all of it.
	 */
	String differing(@Nullable Policy policy, @Nullable Policy other) {
		if (policy == null) {
			return "";
		}
		Map<String, Object> fields = this.reader.document(policy);
		Map<String, Object> others = (other != null) ? this.reader.document(other) : Map.of();
		boolean same = Objects.equals(fields.get(OVERRIDES), others.get(OVERRIDES));
		Map<String, Object> content = new LinkedHashMap<>(fields);
		content.remove(OVERRIDES);
		return shortened(Json.write(differing(content, others))) + (same ? "" : " and other overrides");
	}

	private static Map<String, Object> differing(Map<?, ?> fields, Map<?, ?> others) {
		Map<String, Object> differing = new LinkedHashMap<>();
		fields.forEach((name, value) -> {
			Object other = others.get(name);
			if (value instanceof Map<?, ?> inner && other instanceof Map<?, ?> otherInner) {
				Map<String, Object> parts = differing(inner, otherInner);
				if (!parts.isEmpty()) {
					differing.put(String.valueOf(name), parts);
				}
			}
			else if (!Objects.equals(value, other)) {
				differing.put(String.valueOf(name), value);
			}
		});
		return differing;
	}

	private static String shortened(String text) {
		return (text.length() <= MOST) ? text : text.substring(0, MOST - 100) + "… sha256:" + Sha256.hex(text);
	}

}
