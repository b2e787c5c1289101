/** What tests of jobs stand on: temporary folders, a context, and the jobs called as a host calls them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JobEvent } from '../api/events.ts';
import type { JobContext } from '../api/jobs.ts';

export interface Sandbox extends Disposable {
  readonly folder: string;
  /** A path inside; its parent folders are made. */
  path(...parts: string[]): string;
  write(path: string, content: string | Uint8Array): string;
}

export function createSandbox(): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), 'dray-jobs-'));
  const path = (...parts: string[]) => {
    const full = join(folder, ...parts);
    mkdirSync(dirname(full), { recursive: true });
    return full;
  };
  return {
    folder,
    path,
    write: (name, content) => {
      const full = path(name);
      writeFileSync(full, content);
      return full;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface TestContext extends JobContext {
  readonly events: JobEvent[];
}

export function testContext(directory: string, more: Partial<JobContext> = {}): TestContext {
  const events: JobEvent[] = [];
  return {
    directory,
    connection: {},
    environment: { DRAY_AUTHOR: 'tester' },
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    ...more,
    events,
  };
}

/** The events of one type, in order. */
export function eventsOf<T extends JobEvent['type']>(
  context: TestContext,
  type: T,
): Extract<JobEvent, { type: T }>[] {
  return context.events.filter((event): event is Extract<JobEvent, { type: T }> => event.type === type);
}
