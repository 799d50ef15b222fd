package dev.ratelimit.config;

import java.lang.reflect.Constructor;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;

import dev.ratelimit.control.FieldNames;

/**
 * The fields of a record of properties, by their names in YAML, with their defaults. Kept
 * per class, because a start may have to read ten thousand documents.
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

	private final Map<String, Field> relaxed = new HashMap<>();

	private final Parameter[] parameters;

	private volatile @Nullable Object @Nullable [] defaults;

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
		this.parameters = this.constructor.getParameters();
		for (int i = 0; i < components.length; i++) {
			Name given = this.parameters[i].getAnnotation(Name.class);
			String name = (given != null) ? given.value() : kebab(components[i].getName());
			Type declared = components[i].getGenericType();
			Field field = new Field(name, i, declared);
			this.fields.put(name, field);
			this.relaxed.put(FieldNames.uniform(name), field);
		}
	}

	static RecordShape of(Class<?> type) {
		return SHAPES.get(type);
	}

	/**
	 * Converts a text as Boot does.
	 * @throws org.springframework.core.convert.ConversionException if the text is invalid
	 */
	static @Nullable Object convert(String text, Type type) {
		if (type == String.class) {
			return text;
		}
		return ApplicationConversionService.getSharedInstance()
			.convert(text, TEXT, new TypeDescriptor(ResolvableType.forType(type), null, null));
	}

	/** The names of the fields in the order of their declaration. */
	Set<String> names() {
		return this.fields.keySet();
	}

	/**
	 * The field of a name, in any case and with dashes or without.
	 */
	@Nullable Field field(String name) {
		Field field = this.fields.get(name);
		return (field != null) ? field : this.relaxed.get(FieldNames.uniform(name));
	}

	/** Default values of all fields, in an array that the caller may change. */
	@Nullable Object[] defaults() {
		@Nullable Object[] known = this.defaults;
		if (known == null) {
			known = new @Nullable Object[this.parameters.length];
			for (Field field : this.fields.values()) {
				known[field.place()] = byDefault(field.type(),
						this.parameters[field.place()].getAnnotation(DefaultValue.class));
			}
			this.defaults = known;
		}
		return known.clone();
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
		if (raw.isRecord()) {
			RecordShape shape = of(raw);
			return shape.create(shape.defaults());
		}
		return (raw == List.class && value.value().length == 0) ? List.of()
				: convert(String.join(",", value.value()), type);
	}

	private static String kebab(String name) {
		return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
	}

	record Field(String name, int place, Type type) {
	}

}
