/** Runs jobs in tests: temporary folders, a context, and the jobs called as a host calls them. */
import { chownSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JobEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';

export interface Sandbox extends Disposable {
  readonly folder: string;
  /** A path inside; its parent folders are made. */
  path(...parts: string[]): string;
  write(path: string, content: string | Uint8Array): string;
}

/** @param parent An existing folder; default: the one for temporary files. */
export function createSandbox(parent = tmpdir()): Sandbox {
  const folder = mkdtempSync(join(parent, 'dray-jobs-'));
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
    // As on a command line.
    isTyped: true,
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

/**
 * Runs `job` without root's rights, in a sandbox owned by nobody: root could read every file. Other users run
 * it as they are.
 */
export async function asNobody<T>(sandbox: Sandbox, job: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return job();
  const nobody = 65_534;
  const items = readdirSync(sandbox.folder, { withFileTypes: true, recursive: true });
  for (const item of items) lchownSync(join(item.parentPath, item.name), nobody, nobody);
  chownSync(sandbox.folder, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await job();
  } finally {
    process.seteuid?.(0);
  }
}
