/**
 * The packages of Temporal and OpenTelemetry, loaded at first use. They are no dependencies of Dray's: they
 * take 176 MB and 30 MB, and only fleets need them.
 */
import { DrayError } from '../../engine/api/error.ts';

const VERSION = '1.24.0';
const NAMES = ['client', 'worker', 'workflow', 'activity', 'common'].map(
  (name) => `@temporalio/${name}@${VERSION}`,
);

const TRACING_NAMES = [
  `@temporalio/interceptors-opentelemetry@${VERSION}`,
  '@opentelemetry/sdk-trace-node@1.30.1',
  '@opentelemetry/exporter-trace-otlp-http@0.57.2',
  '@opentelemetry/resources@1.30.1',
];

/** @throws `usage` with the command that installs the packages */
export function withPackages<T>(load: () => Promise<T>): Promise<T> {
  const what = 'dray fleet needs the packages of Temporal, which are not installed.';
  return loadOptional(load, { what, names: NAMES, reason: 'temporalPackages' });
}

/** @throws `usage` with the command that installs the packages */
export function withTracingPackages<T>(load: () => Promise<T>): Promise<T> {
  const what =
    '--traces (or OTEL_EXPORTER_OTLP_ENDPOINT) needs packages of OpenTelemetry, which are not installed.';
  return loadOptional(load, { what, names: TRACING_NAMES, reason: 'tracingPackages' });
}

async function loadOptional<T>(
  load: () => Promise<T>,
  {
    names,
    reason,
    what,
  }: { readonly what: string; readonly names: readonly string[]; readonly reason: string },
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const command = `npm install -g ${names.join(' ')}`;
    throw new DrayError('usage', what, {
      cause,
      data: { reason },
      advice: `Install them: ${command}`,
      command,
    });
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isUnknown = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return isUnknown && /@(?:temporalio|opentelemetry)\//.test(String(message));
}
