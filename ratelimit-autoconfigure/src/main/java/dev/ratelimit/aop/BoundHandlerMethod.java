package dev.ratelimit.aop;

import org.springframework.web.method.HandlerMethod;

/**
 * A handler whose controller knows the request it is called for. Spring copies what
 * stands for the controller to call the handler, and asks {@link #getBean} for what else
 * it calls: {@code @ExceptionHandler}, {@code @InitBinder} and {@code @ModelAttribute}
 * methods are the controller's own, with its fields.
 */
final class BoundHandlerMethod extends HandlerMethod {

	private final Object controller;

	private final boolean mayBlock;

	/**
	 * Creates one.
	 * @param called stands for the handler's controller
	 * @param mayBlock whether it has to be called on a thread that may block
	 */
	BoundHandlerMethod(HandlerMethod handler, Object called, boolean mayBlock) {
		super(handler, called, false);
		this.controller = handler.getBean();
		this.mayBlock = mayBlock;
	}

	@Override
	public Object getBean() {
		return this.controller;
	}

	static boolean mayBlock(HandlerMethod handler) {
		return handler instanceof BoundHandlerMethod bound && bound.mayBlock;
	}

	@Override
	public boolean equals(Object other) {
		return super.equals(other);
	}

	@Override
	public int hashCode() {
		return super.hashCode();
	}

}
