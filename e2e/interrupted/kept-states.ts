/** Named states of some folders of a sandbox, so that each run of a sweep starts from the same one. */
import { cpSync, rmSync } from 'node:fs';
import type { Sandbox } from '../../engine/jobs/session/job.fixture.ts';

export interface KeptStates {
  keepAs(name: string): void;
  startFrom(name: string): void;
}

/** @param parts The folders, below the sandbox. The states lie in its folder `kept`. */
export function createKeptStates(sandbox: Sandbox, parts: readonly string[]): KeptStates {
  const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true });
  return {
    keepAs: (name) => {
      for (const part of parts) copy(sandbox.path(part), sandbox.path('kept', name, part));
    },
    startFrom: (name) => {
      for (const part of parts) {
        rmSync(sandbox.path(part), { recursive: true, force: true });
        copy(sandbox.path('kept', name, part), sandbox.path(part));
      }
    },
  };
}
