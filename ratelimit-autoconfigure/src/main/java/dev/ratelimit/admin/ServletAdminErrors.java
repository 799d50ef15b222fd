package dev.ratelimit.admin;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.security.Principal;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.Order;
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
 * Bounds the bodies that the admin API reads on the servlet stack. An advice and no
 * filter, because those of the application are not there on a management port of its own.
 * Also answers what only this stack throws: a controller that named it could not be used
 * on the other.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
@ControllerAdvice(annotations = AdminApi.class)
public final class BodyLimitAdvice extends RequestBodyAdviceAdapter {

	private final Audit audit;

	public BodyLimitAdvice(Audit audit) {
		this.audit = audit;
	}

	@ExceptionHandler
	ResponseEntity<Map<String, Object>> unreadable(HttpMediaTypeNotSupportedException failure, HandlerMethod handler,
			@Nullable Principal principal) {
		AdminApi api = AnnotationUtils.findAnnotation(handler.getBeanType(), AdminApi.class);
		this.audit.unreadable((api != null) ? api.actions() : "", principal);
		return AdminProblem.ofBody(failure).response();
	}

	@Override
	public boolean supports(MethodParameter parameter, Type type,
			Class<? extends HttpMessageConverter<?>> converterType) {
		return true;
	}

	@Override
	public HttpInputMessage beforeBodyRead(HttpInputMessage message, MethodParameter parameter, Type type,
			Class<? extends HttpMessageConverter<?>> converterType) throws IOException {
		return new Bounded(message.getHeaders(), new BoundedStream(message.getBody()));
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

	private static final class BoundedStream extends FilterInputStream {

		private long left = BodyTooLargeException.MOST_BYTES;

		BoundedStream(InputStream in) {
			super(in);
		}

		@Override
		public int read() throws IOException {
			int read = super.read();
			spend((read >= 0) ? 1 : 0);
			return read;
		}

		@Override
		public int read(byte[] bytes, int offset, int length) throws IOException {
			int read = super.read(bytes, offset, length);
			spend(read);
			return read;
		}

		private void spend(int read) throws IOException {
			this.left -= Math.max(0, read);
			if (this.left < 0) {
				throw new BodyTooLargeException();
			}
		}

	}

}
