package dev.ratelimit.web.tracing;

import java.util.List;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.web.CallTrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

class ObservedCallsTests {

	private static final Decision REFUSED = Decision.without(Request.of("orders"), 0, false, Decision.Outcome.REFUSED,
			Decision.Reason.LIMITS);

	private final SimpleTracer tracer = new SimpleTracer();

	private final ObservationRegistry registry = ObservationRegistry.create();

	private final ObservedCalls calls = new ObservedCalls(this.registry);

	ObservedCallsTests() {
		this.registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(this.tracer));
	}

	@Test
	void decisionIsAnEventOnTheSpanOfTheThreadsCall() {
		Observation.createNotStarted("http.server.requests", this.registry)
			.observe(() -> this.calls.find(null).decided(REFUSED));
		assertThat(events()).containsExactly("ratelimit.decision policy=orders outcome=refused");
		assertThat(this.tracer.getSpans()).hasSize(1);
	}

	@Test
	void callOfAContextIsFoundFromAnyThread() {
		Observation observation = Observation.start("http.server.requests", this.registry);
		CallTrace trace = this.calls.find(observation);
		trace.decided(REFUSED);
		observation.stop();
		assertThat(events()).hasSize(1);
		assertThat(trace.id()).isEqualTo(this.tracer.onlySpan().context().traceId()).isNotEmpty();
	}

	@Test
	void nameOfAPolicyThatDoesNotExistIsNotRepeated() {
		Decision unknown = Decision.without(Request.of("whatever"), 0, true, Decision.Outcome.ERROR,
				Decision.Reason.UNKNOWN_POLICY);
		Observation.createNotStarted("http.server.requests", this.registry)
			.observe(() -> this.calls.find(null).decided(unknown));
		assertThat(events()).containsExactly("ratelimit.decision policy=unknown outcome=error");
	}

	@Test
	void metersOfTheObservationGetNoTag() {
		Observation observation = Observation.start("http.server.requests", this.registry);
		this.calls.find(observation).decided(REFUSED);
		assertThat(observation.getContextView().getAllKeyValues()).isEmpty();
	}

	@Test
	void callThatNobodyObservesHasNoTrace() {
		assertThat(this.calls.find(null)).isSameAs(CallTrace.NONE);
		assertThat(this.calls.find(Observation.NOOP)).isSameAs(CallTrace.NONE);
		assertThat(this.calls.find("something else").id()).isNull();
	}

	@Test
	void callThatIsObservedButNotTracedHasNoId() {
		ObservationRegistry untraced = ObservationRegistry.create();
		untraced.observationConfig().observationHandler((ObservationHandler<Observation.Context>) (context) -> true);
		Observation observation = Observation.start("http.server.requests", untraced);
		assertThat(this.calls.find(observation).id()).isNull();
	}

	@Test
	void handlerThatFailsDoesNotFailTheCall() {
		ObservationRegistry failing = ObservationRegistry.create();
		failing.observationConfig().observationHandler(new ObservationHandler<>() {

			@Override
			public void onEvent(Observation.Event event, Observation.Context context) {
				throw new IllegalStateException("broken");
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}

		});
		Observation observation = Observation.start("http.server.requests", failing);
		assertThatCode(() -> this.calls.find(observation).decided(REFUSED)).doesNotThrowAnyException();
	}

	private List<String> events() {
		SimpleSpan span = this.tracer.onlySpan();
		return span.getEvents().stream().map((event) -> event.getValue()).toList();
	}

}
