package dev.ratelimit.admin;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.security.Principal;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/**
 * Bounds the bodies that the admin API reads on the servlet stack, and handles the
 * exception that only this stack throws. An advice and not a filter, because a separate
 * management port does not have the filters of the application.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
@ControllerAdvice(assignableTypes = AdminController.class)
final class ServletAdminErrors extends RequestBodyAdviceAdapter {

	@ExceptionHandler
	ResponseEntity<Map<String, Object>> unsupported(HttpMediaTypeNotSupportedException failure, HandlerMethod handler,
			@Nullable Principal principal) {
		return ((AdminController) handler.getBean()).unreadable(failure, principal);
	}

	@Override
	public boolean supports(MethodParameter parameter, Type type,
			Class<? extends HttpMessageConverter<?>> converterType) {
		return true;
	}

	@Override
	public HttpInputMessage beforeBodyRead(HttpInputMessage message, MethodParameter parameter, Type type,
			Class<? extends HttpMessageConverter<?>> converterType) throws IOException {
		byte[] body = message.getBody().readNBytes(AdminController.MOST_BYTES + 1);
		if (body.length > AdminController.MOST_BYTES) {
			throw new DataBufferLimitException("the body has more than " + AdminController.MOST_BYTES + " bytes");
		}
		return new Bounded(message.getHeaders(), new ByteArrayInputStream(body));
	}

	private record Bounded(HttpHeaders headers, InputStream body) implements HttpInputMessage {

		@Override
		public HttpHeaders getHeaders() {
			return this.headers;
		}

		@Override
		public InputStream getBody() {
			return this.body;
		}

	}

}
