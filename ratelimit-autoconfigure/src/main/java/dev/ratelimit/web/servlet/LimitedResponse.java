package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Settling;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CostTap;
import dev.ratelimit.web.HttpAnswers;

/**
 * The response of a limited request. Just before it is committed, it settles decisions by
 * the head of the response and sets the headers of all decisions, in place of those of
 * the handler. Until then a refusal can take the decisions back, so that no header of
 * theirs is left on it. The body is read along if it may name the true cost.
 *
 * <p>
 * A servlet has no event for the commit. It happens at the latest when the buffer is full
 * or all of the announced content is written, on a flush, on an error or redirect, and at
 * the end.
 */
final class LimitedResponse extends HttpServletResponseWrapper {

	private final HttpServletRequest request;

	private final HttpAnswers answers;

	private @Nullable TappedOutputStream stream;

	private @Nullable PrintWriter writer;

	private @Nullable List<CostTap> taps;

	private long contentLength = -1;

	private long written;

	private boolean committed;

	private boolean ended;

	private volatile boolean cutOff;

	LimitedResponse(HttpServletRequest request, HttpServletResponse response, HttpAnswers answers) {
		super(response);
		this.request = request;
		this.answers = answers;
	}

	/**
	 * The limited response in a response, {@code null} if there is none.
	 */
	static @Nullable LimitedResponse in(@Nullable ServletResponse response) {
		ServletResponse next = response;
		while (next instanceof ServletResponseWrapper wrapper) {
			if (next instanceof LimitedResponse limited) {
				return limited;
			}
			next = wrapper.getResponse();
		}
		return null;
	}

	/** Just before the commit. */
	private synchronized void commit(int status) {
		if (this.committed || isCommitted()) {
			return;
		}
		this.committed = true;
		CallDecisions decisions = decisions();
		if (decisions != null) {
			decisions.commit((settling) -> cost(settling, status), this.answers).forEach(super::setHeader);
		}
	}

	private void commit() {
		commit(getStatus());
	}

	private @Nullable CallDecisions decisions() {
		return (CallDecisions) this.request.getAttribute(CallDecisions.ATTRIBUTE);
	}

	private @Nullable Long cost(Settling settling, int status) {
		String header = settling.header();
		return settling.byHead(status, (header != null) ? getHeader(header) : null);
	}

	/**
	 * The response has ended.
	 * @param failure what the application threw, {@code null} if it answered
	 */
	void end(@Nullable Throwable failure) {
		int status;
		List<CostTap> taps;
		synchronized (this) {
			if (this.ended) {
				return;
			}
			this.ended = true;
			status = (failure != null && !isCommitted()) ? SC_INTERNAL_SERVER_ERROR : getStatus();
			commit(status);
			taps = taps();
		}
		// Not under the monitor: the trailers are code of the application.
		for (CostTap tap : taps) {
			if (cost(tap.settling(), status) == null && isNamedByResponses(tap.settling())) {
				tap.end(trailer(tap.settling().header()), failure == null && !this.cutOff);
			}
			else {
				tap.drop();
			}
		}
	}

	/**
	 * Ends the response when its asynchronous request does.
	 */
	void endLater() {
		this.request.getAsyncContext().addListener(new AsyncListener() {

			private volatile @Nullable Throwable failure;

			@Override
			public void onComplete(AsyncEvent event) {
				end(this.failure);
			}

			@Override
			public void onTimeout(AsyncEvent event) {
				LimitedResponse.this.cutOff = true;
			}

			@Override
			public void onError(AsyncEvent event) {
				this.failure = event.getThrowable();
			}

			@Override
			public void onStartAsync(AsyncEvent event) {
				event.getAsyncContext().addListener(this);
			}

		});
	}

	/** Otherwise only code settles, perhaps later. */
	private static boolean isNamedByResponses(Settling settling) {
		return settling.header() != null || !settling.json().isEmpty() || !settling.statuses().isEmpty();
	}

	private @Nullable Long trailer(@Nullable String name) {
		Supplier<Map<String, String>> fields = (name != null) ? getTrailerFields() : null;
		Map<String, String> trailers = (fields != null) ? fields.get() : null;
		if (trailers == null) {
			return null;
		}
		return trailers.entrySet()
			.stream()
			.filter((trailer) -> trailer.getKey().equalsIgnoreCase(name))
			.map((trailer) -> Settling.cost(trailer.getValue()))
			.findFirst()
			.orElse(null);
	}

	/** Made at the first byte, when type and encoding are known. */
	private List<CostTap> taps() {
		List<CostTap> taps = this.taps;
		if (taps == null) {
			CallDecisions decisions = decisions();
			taps = (decisions == null) ? List.of() : CostTap.of(decisions, (settling) -> cost(settling, getStatus()),
					getContentType(), getHeader("Content-Encoding"));
			this.taps = taps;
		}
		return taps;
	}

	/** Bytes that are about to be written. */
	private synchronized void writing(ByteBuffer part) {
		if (!this.ended) {
			taps().forEach((tap) -> tap.read(part));
		}
		this.written += part.remaining();
		boolean whole = this.contentLength >= 0 && this.written >= this.contentLength;
		if (whole || this.written >= getBufferSize()) {
			commit();
		}
	}

	@Override
	public ServletOutputStream getOutputStream() throws IOException {
		TappedOutputStream known = this.stream;
		if (known == null) {
			known = new TappedOutputStream(super.getOutputStream(), this::writing, this::commit,
					() -> this.cutOff = true);
			this.stream = known;
		}
		return known;
	}

	/** Over the stream, so that the bytes are seen. */
	@Override
	public PrintWriter getWriter() throws IOException {
		PrintWriter known = this.writer;
		if (known == null) {
			String encoding = getCharacterEncoding();
			// As the container does: from now on the type names it.
			super.setCharacterEncoding(encoding);
			known = new TappedWriter(getOutputStream(), encoding);
			this.writer = known;
		}
		return known;
	}

	@Override
	public void setContentLength(int length) {
		this.contentLength = length;
		super.setContentLength(length);
	}

	@Override
	public void setContentLengthLong(long length) {
		this.contentLength = length;
		super.setContentLengthLong(length);
	}

	@Override
	public void setHeader(String name, String value) {
		super.setHeader(name, value);
		noteLength(name, value);
	}

	@Override
	public void addHeader(String name, String value) {
		super.addHeader(name, value);
		noteLength(name, value);
	}

	private void noteLength(String name, @Nullable String value) {
		if (name.equalsIgnoreCase("Content-Length") && value != null && value.matches("[0-9]{1,18}")) {
			this.contentLength = Long.parseLong(value);
		}
	}

	@Override
	public void flushBuffer() throws IOException {
		commit();
		super.flushBuffer();
	}

	@Override
	public void sendError(int status) throws IOException {
		commit(status);
		super.sendError(status);
	}

	@Override
	public void sendError(int status, String message) throws IOException {
		commit(status);
		super.sendError(status, message);
	}

	@Override
	public void sendRedirect(String location) throws IOException {
		commit(SC_FOUND);
		super.sendRedirect(location);
	}

	@Override
	public void reset() {
		super.reset();
		begin();
		this.contentLength = -1;
		this.committed = false;
	}

	@Override
	public void resetBuffer() {
		super.resetBuffer();
		begin();
	}

	/** Another body takes the place of what was written so far. */
	private synchronized void begin() {
		if (this.taps != null && !this.ended) {
			this.taps.forEach(CostTap::drop);
		}
		this.taps = null;
		this.written = 0;
		this.writer = null;
		this.stream = null;
	}

}
