/** rclone between the two stores of a fleet: it copies as a peer, and compares every byte as a judge. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { S3Server } from '../../e2e/servers/versitygw.ts';
import { findPeer } from '../machines/peers.ts';
import type { FleetMachine } from './fleet-machine.ts';

export interface RcloneBetween {
  readonly version: string;
  /** Its program, arguments and environment for a copy. */
  copy(
    from: string,
    to: string,
  ): {
    readonly file: string;
    readonly args: readonly string[];
    readonly environment: Readonly<Record<string, string | undefined>>;
  };
  /**
   * Downloads both sides, or compares the MD5s of the listings. @returns Its last lines.
   * @throws Error when they differ
   */
  check(from: string, to: string, options?: { readonly downloads: boolean }): Promise<string>;
}

export async function findRclone(machine: FleetMachine): Promise<RcloneBetween> {
  const rclone = await findPeer('rclone');
  if ('missing' in rclone) throw new Error(`rclone: ${rclone.missing}`);
  const environment = {
    ...machine.environment,
    RCLONE_CONFIG: '',
    ...remote('FROM', machine.source),
    ...remote('TO', machine.destination),
  };
  const places = (from: string, to: string) => [
    `from:${machine.source.bucket}/${from}`,
    `to:${machine.destination.bucket}/${to}`,
  ];
  const tuned = ['--transfers', '32', '--checkers', '32'];
  return {
    version: rclone.version,
    copy: (from, to) => ({ file: rclone.path, args: ['copy', ...places(from, to), ...tuned], environment }),
    async check(from, to, { downloads } = { downloads: true }) {
      const args = [
        'check',
        ...(downloads ? ['--download'] : []),
        ...places(from, to),
        '--exclude',
        '.dray-fleet/**',
        ...tuned,
      ];
      const { stderr } = await promisify(execFile)(rclone.path, args, {
        env: environment,
        maxBuffer: 2 ** 28,
      });
      return stderr;
    },
  };
}

function remote(name: string, { endpoint, region }: S3Server): Readonly<Record<string, string>> {
  const settings = {
    TYPE: 's3',
    PROVIDER: 'Other',
    ENV_AUTH: 'true',
    ENDPOINT: endpoint,
    REGION: region,
    NO_CHECK_BUCKET: 'true',
  };
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`RCLONE_CONFIG_${name}_${key}`, value]),
  );
}
