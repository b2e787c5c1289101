/**
 * OpenTelemetry traces of a worker, by the interceptors of Temporal's SDK: a span for each workflow, each
 * step that a workflow starts, and each run of a step on this worker. Spans name steps, jobs and ranges, and
 * no file.
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { WorkerOptions } from '@temporalio/worker';

/** A worker that stops waits no longer for its last spans. */
const SEND_MS = 5_000;

export interface Tracing {
  readonly options: Pick<WorkerOptions, 'interceptors' | 'sinks'>;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** The URL of a collector that speaks OTLP over HTTP, without `/v1/traces`. */
  readonly url: string;
  readonly serviceName: string;
  /** Called once when spans cannot be sent, and again after some were. */
  readonly onProblem: (why: string) => void;
}

export function openTracing({ onProblem, serviceName, url }: TracingOptions): Tracing {
  const resource = Resource.default().merge(new Resource({ 'service.name': serviceName }));
  const exporter = new OTLPTraceExporter({
    url: `${url.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: SEND_MS,
  });
  const processor = new BatchSpanProcessor(careful(exporter, onProblem), { exportTimeoutMillis: SEND_MS });
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.register();
  const tracer = provider.getTracer('dray-fleet');
  return {
    options: {
      interceptors: {
        activity: [
          (context) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(context, { tracer }) }),
        ],
      },
      sinks: { exporter: makeWorkflowExporter(processor, resource) },
    },
    close: () => provider.shutdown().catch(() => {}),
  };
}

/** Reports lost spans, which the SDK does not, and sends only scalar attributes. */
function careful(exporter: SpanExporter, onProblem: (why: string) => void): SpanExporter {
  let isLost = false;
  return {
    export: (spans, callback) =>
      exporter.export(spans.map(withScalars), (result) => {
        if (result.code !== 0 && !isLost) onProblem(result.error?.message || 'no answer');
        isLost = result.code !== 0;
        callback(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush!() }),
  };
}

/** The interceptor adds all that Temporal knows about a workflow, such as its memo with the two places. */
function withScalars(span: ReadableSpan): ReadableSpan {
  const scalars = Object.entries(span.attributes).filter(([, value]) => typeof value !== 'object');
  return Object.assign(Object.create(span), { attributes: Object.fromEntries(scalars) });
}
