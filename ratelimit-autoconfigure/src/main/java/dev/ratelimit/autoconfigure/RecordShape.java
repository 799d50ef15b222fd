package dev.ratelimit.autoconfigure;

import java.lang.reflect.Constructor;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;

/**
 * What a record of properties has: fields by the names that they go by in YAML, with
 * their defaults. Found out once, as a start may have to read ten thousand documents.
 */
final class RecordShape {

	private static final ClassValue<RecordShape> SHAPES = new ClassValue<>() {

		@Override
		protected RecordShape computeValue(Class<?> type) {
			return new RecordShape(type);
		}

	};

	private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

	private final Constructor<?> constructor;

	private final Map<String, Field> fields = new LinkedHashMap<>();

	private final @Nullable Object[] defaults;

	private RecordShape(Class<?> type) {
		RecordComponent[] components = type.getRecordComponents();
		try {
			this.constructor = type
				.getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class[]::new));
			this.constructor.trySetAccessible();
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
		Parameter[] parameters = this.constructor.getParameters();
		this.defaults = new @Nullable Object[components.length];
		for (int i = 0; i < components.length; i++) {
			String name = kebab(components[i].getName());
			Type declared = components[i].getGenericType();
			this.fields.put(name, new Field(name, i, declared));
			this.defaults[i] = byDefault(declared, parameters[i].getAnnotation(DefaultValue.class));
		}
	}

	static RecordShape of(Class<?> type) {
		return SHAPES.get(type);
	}

	/**
	 * What a text means, as Boot would convert it.
	 * @throws org.springframework.core.convert.ConversionException if it means nothing
	 */
	static @Nullable Object convert(String text, Type type) {
		if (type == String.class) {
			return text;
		}
		return ApplicationConversionService.getSharedInstance()
			.convert(text, TEXT, new TypeDescriptor(ResolvableType.forType(type), null, null));
	}

	/** The names of the fields, as they are declared. */
	Set<String> names() {
		return this.fields.keySet();
	}

	/**
	 * The field that is called so, in whichever case.
	 */
	@Nullable Field field(String name) {
		Field field = this.fields.get(name);
		return (field != null) ? field : this.fields.get(kebab(name));
	}

	/** Values for all fields, for whoever knows better to replace. */
	@Nullable Object[] defaults() {
		return this.defaults.clone();
	}

	Object create(@Nullable Object[] values) {
		return BeanUtils.instantiateClass(this.constructor, values);
	}

	private static @Nullable Object byDefault(Type type, @Nullable DefaultValue value) {
		if (value == null) {
			return null;
		}
		Class<?> raw = ResolvableType.forType(type).toClass();
		if (raw == Map.class) {
			return Map.of();
		}
		return (raw == List.class && value.value().length == 0) ? List.of()
				: convert(String.join(",", value.value()), type);
	}

	private static String kebab(String name) {
		return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
	}

	/**
	 * One field.
	 */
	record Field(String name, int place, Type type) {
	}

}
