package dev.ratelimit.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.annotation.AliasFor;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.service.annotation.GetExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class RateLimitedMethodsTests {

	private final RateLimitedMethods methods = new RateLimitedMethods();

	@Test
	void valueAndPolicyAreTheSame() {
		assertThat(limit(Plain.class, "byValue").policy()).isEqualTo("orders");
		assertThat(limit(Plain.class, "byPolicy").policy()).isEqualTo("orders");
	}

	@Test
	void methodWithoutAnAnnotationIsNotLimited() {
		assertThat(search(Plain.class, "free")).isNull();
		assertThat(this.methods.known()).isEmpty();
	}

	@Test
	void annotationOfOnesOwnPassesOnPolicyAndCost() {
		MethodLimit method = limit(Plain.class, "expensive");
		assertThat(method.policy()).isEqualTo("reports");
		assertThat(method.constantCost()).isEqualTo(7);
	}

	@Test
	void annotationOfAnInterfaceHolds() {
		assertThat(limit(Implementation.class, "call").policy()).isEqualTo("contract");
	}

	@Test
	void classSpeaksForItsPublicMethodsAndAMethodForItself() {
		assertThat(limit(Whole.class, "inherited").policy()).isEqualTo("whole");
		assertThat(limit(Whole.class, "own").policy()).isEqualTo("own");
		assertThat(search(Whole.class, "internal")).isNull();
		assertThat(search(Whole.class, "toString")).isNull();
	}

	@Test
	void classDoesNotSpeakForWhatServesItsHandlers() {
		assertThat(limit(Whole.class, "handler").policy()).isEqualTo("whole");
		assertThat(search(Whole.class, "model")).isNull();
		assertThat(search(Whole.class, "refused")).isNull();
	}

	@Test
	void methodOfAControllerWithHttpExchangeIsAHandlerAndOneOfAClientIsNot() {
		assertThat(find(Exchange.class, "exchange").handler()).isTrue();
		assertThat(find(Exchange.class, "exchange").isPlainBeanMethod()).isFalse();
		assertThat(find(ExchangeClient.class, "exchange").isPlainBeanMethod()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { PrivateModel.class, FinalHandler.class })
	void methodThatServesHandlersAndNoProxyCanOverrideFailsTheStart(Class<?> type) {
		this.methods.find(ReflectionUtils.findMethod(type, "handler"), type);
		assertThatIllegalStateException().isThrownBy(() -> this.methods.requireChecked(type, false))
			.withMessageContaining(type.getSimpleName() + ".serves");
		this.methods.requireChecked(type, true);
	}

	@Test
	void methodIsReadOnce() {
		assertThat(find(Plain.class, "byValue")).isSameAs(find(Plain.class, "byValue"));
		assertThat(this.methods.known()).hasSize(1);
	}

	@Test
	void kindOfReturnIsKnown() {
		assertThat(ReturnKind.of(String.class)).isEqualTo(ReturnKind.VALUE);
		assertThat(ReturnKind.of(void.class)).isEqualTo(ReturnKind.VALUE);
		assertThat(ReturnKind.of(CompletableFuture.class)).isEqualTo(ReturnKind.STAGE);
		assertThat(ReturnKind.of(Mono.class)).isEqualTo(ReturnKind.PUBLISHER);
		assertThat(ReturnKind.of(Flux.class)).isEqualTo(ReturnKind.PUBLISHER);
	}

	@Test
	void costAndKeyAreReadFromArgumentsByNameAndByPosition() {
		MethodLimit named = limit(Plain.class, "named");
		assertThat(named.cost(new Object[] { "acme", 5 })).isEqualTo(5);
		assertThat(named.key(new Object[] { "acme", 5 })).isEqualTo("acme");
		MethodLimit numbered = limit(Plain.class, "numbered");
		assertThat(numbered.cost(new Object[] { "acme", List.of(1, 2, 3) })).isEqualTo(3);
		assertThat(numbered.key(new Object[] { "acme", List.of() })).isEqualTo("acme");
	}

	@Test
	void propertiesOfArgumentsCanBeRead() {
		assertThat(limit(Plain.class, "order").cost(new Object[] { new Order(9) })).isEqualTo(9);
	}

	@Test
	void costThatACallerChoseIsNeverFreeAndNeverAFailure() {
		assertThat(cost(-5)).isEqualTo(1);
		assertThat(cost(Long.MIN_VALUE)).isEqualTo(1);
		assertThat(cost(Double.NaN)).isEqualTo(1);
		assertThat(cost(2.1)).isEqualTo(3);
		assertThat(cost(Long.MAX_VALUE)).isEqualTo(90_000_000);
		assertThat(cost(BigInteger.TEN.pow(400))).isEqualTo(90_000_000);
	}

	@Test
	void missingKeyStaysMissing() {
		assertThat(limit(Plain.class, "named").key(new Object[] { null, 1 })).isNull();
	}

	@Test
	void keyCanBeAnythingWithATextOfItsOwn() {
		UUID id = UUID.randomUUID();
		MethodLimit method = limit(Plain.class, "any");
		assertThat(method.key(new Object[] { id })).isEqualTo(id.toString());
		assertThat(method.key(new Object[] { 42L })).isEqualTo("42");
		assertThatExceptionOfType(CallNotCheckedException.class)
			.isThrownBy(() -> method.key(new Object[] { new Object() }))
			.withMessageContaining("neither a text nor a number");
		assertThatExceptionOfType(CallNotCheckedException.class)
			.isThrownBy(() -> method.key(new Object[] { List.of("a, b") }));
	}

	@Test
	void failureOfAnExpressionHoldsNoArgument() {
		assertThatExceptionOfType(CallNotCheckedException.class)
			.isThrownBy(() -> limit(Plain.class, "parsed").cost(new Object[] { "secret" }))
			.withMessageContaining("Plain.parsed")
			.withMessageNotContaining("secret")
			.withNoCause();
		assertThatExceptionOfType(CallNotCheckedException.class).isThrownBy(() -> cost("secret"))
			.withMessage("cost '#number' of Plain.weighed is no number");
	}

	@ParameterizedTest
	@ValueSource(strings = { "T(java.lang.Runtime).getRuntime()", "@bean.cost", "new java.io.File('x').length()",
			"#size = 3", "#sise", "#size +", "{1, T(String)}" })
	void expressionThatAsksForMoreThanArgumentsIsNotAccepted(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> ArgumentExpression.parse(text, List.of("size")))
			.withMessageContaining(text);
	}

	@Test
	void valueOfACallerIsNeverReadAsAnExpression() {
		String attack = "T(java.lang.System).exit(1)";
		assertThat(limit(Plain.class, "named").key(new Object[] { attack, 1 })).isEqualTo(attack);
	}

	@Test
	void wrongAnnotationNamesTheMethodAndTheFix() {
		assertThatIllegalStateException().isThrownBy(() -> find(Wrong.class, "unnamed"))
			.withMessageStartingWith("@RateLimited on Wrong.unnamed: names no policy");
		assertThatIllegalStateException().isThrownBy(() -> find(Wrong.class, "negative"))
			.withMessage("@RateLimited on Wrong.negative: cost must be 0 to 90000000 but was -1");
		assertThatIllegalStateException().isThrownBy(() -> find(Wrong.class, "typo"))
			.withMessageContaining("'#sise' reads #sise")
			.withMessageContaining("use one of #size, #p0, #a0");
	}

	private @Nullable Long cost(Object number) {
		return limit(Plain.class, "weighed").cost(new Object[] { number });
	}

	private MethodLimit limit(Class<?> type, String name) {
		return find(type, name).limits().get(0);
	}

	private RateLimitedMethod find(Class<?> type, String name) {
		RateLimitedMethod method = search(type, name);
		assertThat(method).isNotNull();
		return method;
	}

	private @Nullable RateLimitedMethod search(Class<?> type, String name) {
		for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
			if (method.getName().equals(name)) {
				return this.methods.find(method, type);
			}
		}
		throw new IllegalArgumentException(name);
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited(policy = "reports")
	@interface Expensive {

		@AliasFor(annotation = RateLimited.class, attribute = "cost")
		String weight() default "7";

	}

	record Order(int quantity) {

	}

	static class Plain {

		@RateLimited("orders")
		public void byValue() {
		}

		@RateLimited(policy = "orders")
		public void byPolicy() {
		}

		public void free() {
		}

		@Expensive
		public void expensive() {
		}

		@RateLimited(policy = "orders", cost = "#size", key = "#accountId")
		public void named(String accountId, int size) {
		}

		@RateLimited(policy = "orders", cost = "#p1.size()", key = "#a0")
		public void numbered(String accountId, List<Integer> items) {
		}

		@RateLimited(policy = "orders", cost = "#order.quantity")
		public void order(Order order) {
		}

		@RateLimited(policy = "orders", cost = "#number")
		public void weighed(Object number) {
		}

		@RateLimited(policy = "orders", key = "#value")
		public void any(Object value) {
		}

		@RateLimited(policy = "orders", cost = "#text.substring(100)")
		public void parsed(String text) {
		}

	}

	interface Contract {

		@RateLimited("contract")
		void call();

	}

	static class Implementation implements Contract {

		@Override
		public void call() {
		}

	}

	@RateLimited("whole")
	static class Whole {

		public void inherited() {
		}

		@RateLimited("own")
		public void own() {
		}

		void internal() {
		}

		@GetMapping
		@ModelAttribute
		public String handler() {
			return "";
		}

		@ModelAttribute
		public String model() {
			return "";
		}

		@ExceptionHandler
		public void refused(RateLimitExceededException ex) {
		}

	}

	interface ExchangeClient {

		@GetExchange("/exchange")
		@RateLimited("orders")
		String exchange();

	}

	@RestController
	static class Exchange implements ExchangeClient {

		@Override
		public String exchange() {
			return "";
		}

	}

	static class PrivateModel {

		@GetMapping
		@RateLimited("orders")
		public void handler() {
		}

		@ModelAttribute
		private String serves() {
			return "";
		}

	}

	static class FinalHandler {

		@GetMapping
		@RateLimited("orders")
		public void handler() {
		}

		@ExceptionHandler
		public final void serves(IllegalStateException ex) {
		}

	}

	static class Wrong {

		@RateLimited
		public void unnamed() {
		}

		@RateLimited(policy = "orders", cost = "-1")
		public void negative() {
		}

		@RateLimited(policy = "orders", cost = "#sise")
		public void typo(int size) {
		}

	}

}
