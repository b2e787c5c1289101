/** This machine's rsync, for comparison. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';

export interface Rsync {
  readonly version: string;
  /** Resolves to the bytes of content that it sent. */
  synchronise(
    files: { readonly source: string; readonly destination: string },
    options: { readonly isInPlace: boolean; readonly isWhole: boolean; readonly signal: AbortSignal },
  ): Promise<number>;
}

const OUTPUT_BYTES_MAX = 1024 * 1024;

/** Undefined when the `PATH` has none. */
export async function findRsync({
  environment,
}: Pick<JobContext, 'environment'>): Promise<Rsync | undefined> {
  const call = async (parameters: readonly string[], signal?: AbortSignal): Promise<string> => {
    const { stdout } = await promisify(execFile)('rsync', [...parameters], {
      env: { ...environment, LC_ALL: 'C' },
      maxBuffer: OUTPUT_BYTES_MAX,
      ...(signal ? { signal } : {}),
    });
    return stdout;
  };
  const version = await call(['--version']).then(
    (text) => /version (\S+)/.exec(text)?.[1],
    () => undefined,
  );
  if (version === undefined) return undefined;
  return {
    version,
    async synchronise({ destination, source }, { isInPlace, isWhole, signal }) {
      const parameters = [
        // Size and time are equal here, and rsync would trust them.
        '--ignore-times',
        '--times',
        isWhole ? '--whole-file' : '--no-whole-file',
        ...(isInPlace ? ['--inplace'] : []),
        '--stats',
        '--no-human-readable',
        '--',
        source,
        destination,
      ];
      const text = await call(parameters, signal).catch((cause: unknown) => {
        if (signal.aborted) throw new DrayError('aborted', 'Stopped on request.', { cause });
        throw new DrayError('io', `rsync failed: ${(cause as Error).message}`, { cause });
      });
      return Number((/^Literal data: ([\d,]+) bytes/m.exec(text)?.[1] ?? '').replaceAll(',', ''));
    },
  };
}
