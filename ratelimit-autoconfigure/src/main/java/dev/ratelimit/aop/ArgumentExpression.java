package dev.ratelimit.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * A SpEL expression that reads the arguments of a method and nothing else. A mistake in
 * it fails when the bean is created, so that no call goes unlimited because of it.
 */
record ArgumentExpression(SpelExpression expression, List<String> parameters) {

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	/**
	 * Reads an expression.
	 * @param parameters names of the method's parameters
	 * @throws IllegalArgumentException if it is invalid or reads more than arguments
	 */
	static ArgumentExpression parse(String text, List<String> parameters) {
		SpelExpression expression;
		try {
			expression = PARSER.parseRaw(text);
		}
		catch (ParseException | IllegalStateException ex) {
			throw new IllegalArgumentException("'" + text + "' is no expression: " + ex.getMessage(), ex);
		}
		List<String> known = new ArrayList<>(parameters.size() * 3);
		parameters.forEach((name) -> known.add("#" + name));
		for (int i = 0; i < parameters.size(); i++) {
			known.add("#p" + i);
			known.add("#a" + i);
		}
		requireArgumentsOnly(text, expression.getAST(), known);
		return new ArgumentExpression(expression, parameters);
	}

	@Nullable Object value(@Nullable Object[] arguments) {
		EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding()
			.withInstanceMethods()
			.withAssignmentDisabled()
			.build();
		for (int i = 0; i < arguments.length; i++) {
			context.setVariable("p" + i, arguments[i]);
			context.setVariable("a" + i, arguments[i]);
			if (i < this.parameters.size()) {
				context.setVariable(this.parameters.get(i), arguments[i]);
			}
		}
		return this.expression.getValue(context);
	}

	String text() {
		return this.expression.getExpressionString();
	}

	private static void requireArgumentsOnly(String text, SpelNode node, List<String> known) {
		if (node instanceof TypeReference || node instanceof BeanReference || node instanceof ConstructorReference
				|| node instanceof Assign) {
			throw new IllegalArgumentException("'" + text + "' may only read the method's arguments");
		}
		String name = (node instanceof VariableReference) ? node.toStringAST() : "#this";
		if (!known.contains(name) && !Set.of("#this", "#root").contains(name)) {
			throw new IllegalArgumentException("'" + text + "' reads " + name
					+ ", which is no argument of the method, use one of " + String.join(", ", known)
					+ " (names are known to code that is compiled with -parameters)");
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			requireArgumentsOnly(text, node.getChild(i), known);
		}
	}

}
