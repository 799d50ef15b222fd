package dev.ratelimit.grpc;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import org.jspecify.annotations.Nullable;

/**
 * JSON documents as messages. A message has no integers: a number without a fraction is
 * read as one, since documents have exact numbers below 2^53 only.
 */
final class Structs {

	private Structs() {
	}

	static Struct of(Map<?, ?> document) {
		Struct.Builder struct = Struct.newBuilder();
		document.forEach((name, value) -> struct.putFields(String.valueOf(name), value(value)));
		return struct.build();
	}

	private static Value value(@Nullable Object value) {
		Value.Builder made = Value.newBuilder();
		if (value == null) {
			made.setNullValue(NullValue.NULL_VALUE);
		}
		else if (value instanceof Map<?, ?> map) {
			made.setStructValue(of(map));
		}
		else if (value instanceof Collection<?> list) {
			ListValue.Builder values = ListValue.newBuilder();
			list.forEach((element) -> values.addValues(value(element)));
			made.setListValue(values);
		}
		else if (value instanceof Number number) {
			made.setNumberValue(number.doubleValue());
		}
		else if (value instanceof Boolean flag) {
			made.setBoolValue(flag);
		}
		else {
			made.setStringValue(value.toString());
		}
		return made.build();
	}

	static Map<String, Object> toMap(Struct struct) {
		Map<String, Object> map = new LinkedHashMap<>();
		struct.getFieldsMap().forEach((name, value) -> {
			Object read = read(value);
			if (read != null) {
				map.put(name, read);
			}
		});
		return map;
	}

	private static @Nullable Object read(Value value) {
		return switch (value.getKindCase()) {
			case STRUCT_VALUE -> toMap(value.getStructValue());
			case LIST_VALUE -> value.getListValue().getValuesList().stream().map(Structs::read).toList();
			case NUMBER_VALUE -> number(value.getNumberValue());
			case BOOL_VALUE -> value.getBoolValue();
			case STRING_VALUE -> value.getStringValue();
			case NULL_VALUE, KIND_NOT_SET -> null;
		};
	}

	private static Object number(double number) {
		long whole = (long) number;
		return (whole == number) ? (Object) whole : (Object) number;
	}

}
