package dev.ratelimit.aop;

import org.springframework.web.method.HandlerMethod;

/**
 * A handler whose controller is replaced by a proxy for one request. Spring calls the
 * handler on the proxy, and uses {@link #getBean} for {@code @ExceptionHandler},
 * {@code @InitBinder} and {@code @ModelAttribute} methods, which need the controller's
 * fields.
 */
final class BoundHandlerMethod extends HandlerMethod {

	private final Object controller;

	private final boolean mayBlock;

	/**
	 * @param mayBlock whether it must be called on a thread that may block
	 */
	BoundHandlerMethod(HandlerMethod handler, Object proxy, boolean mayBlock) {
		super(handler, proxy, false);
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

}
