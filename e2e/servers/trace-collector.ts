/** A collector of OpenTelemetry for a test file: keeps the spans that are sent to it by OTLP over HTTP. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

export interface TraceCollector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Span[];
  /** All that was sent, as it was sent. */
  received(): string;
}

interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: Span[] = [];
  let received = '';
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { resourceSpans }: ExportRequest = JSON.parse(body);
    received += body;
    for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received: () => received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
