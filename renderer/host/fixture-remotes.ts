/** Remotes of the fixture host, and a test of one that passes slowly enough to be seen. */
import type { CheckEvent } from '../../engine/api/events.ts';
import type { AnswerOf, InputOf, RemoteCard, UsageRow } from '../../engine/api/host.ts';
import type { RequestTotals } from '../../engine/api/jobs.ts';
import type { KnownPeer } from '../../engine/api/peers.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

let remotes: readonly RemoteCard[] = [
  {
    name: 'lab',
    url: 's3://genomes-lab/north-coast?endpoint=https%3A%2F%2Fs3.lab.example.org&region=eu-north-1',
    of: '/home/ada/genomes',
  },
  { name: 'archive', url: 's3://ada-archive?region=eu-north-1&profile=archive', of: 'user' },
  { name: 'backup', url: 'file:///media/ada/disk/backup', of: 'user' },
  { name: 'field-station', url: 'dray://10.0.8.2:7443/outbox', of: 'user' },
];

function listRemotes(): AnswerOf<'remotes.list'> {
  return { remotes };
}

function addRemote({ name, url }: InputOf<'remotes.add'>): AnswerOf<'remotes.add'> {
  remotes = [...remotes, { name, url, of: 'user' }];
  return {};
}

function removeRemote({ name }: InputOf<'remotes.remove'>): AnswerOf<'remotes.remove'> {
  remotes = remotes.filter((remote) => remote.name !== name);
  return {};
}

const CHECKS: readonly Omit<CheckEvent, 'type'>[] = [
  { check: 'credentials', result: 'ok', detail: 'Signed in as arn:aws:iam::000000000000:user/ada.' },
  { check: 'write', result: 'ok', detail: 'Wrote, replaced and removed an object.' },
  { check: 'read', result: 'ok', detail: 'Read back what was written.' },
  { check: 'range reads', result: 'ok', detail: 'A part of an object can be read.' },
  { check: 'listing', result: 'ok', detail: 'Listed 12 objects in order, over 3 pages.' },
  { check: 'multipart', result: 'ok', detail: 'Wrote an object in 3 parts.' },
  { check: 'part copy', result: 'ok', detail: 'Copied a part inside the store.' },
  { check: 'checksums', result: 'notSupported', detail: 'No CRC-64/NVME; CRC-32 is used.' },
  { check: 'conditional writes', result: 'ok', detail: '16 races of 8 writers had one winner each.' },
  { check: 'clock', result: 'warning', detail: 'This clock is 41 s ahead of the remote.' },
  { check: 'latency', result: 'ok', detail: '38 ms a request, the median of 9.' },
];

async function testRemote(
  { target }: InputOf<'remotes.test'>,
  tell: (event: CheckEvent) => void,
  signal: AbortSignal,
): Promise<AnswerOf<'remotes.test'>> {
  const isRefused = /10\.0\.8\.2|denied/.test(target);
  let passed = 0;
  for (const check of CHECKS) {
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (signal.aborted) break;
    if (isRefused && check.check === 'write') {
      tell({
        type: 'check',
        check: 'write',
        result: 'failed',
        detail: 'The remote refused to write: it is read-only for this token.',
      });
      return { passed, failed: 1 };
    }
    tell({ type: 'check', ...check });
    passed += 1;
  }
  return { passed, failed: 0 };
}

function listImportable(): AnswerOf<'remotes.importable'> {
  return {
    candidates: [
      { from: 'aws', name: 'default', url: 's3://?profile=default&region=eu-north-1' },
      {
        from: 'aws',
        name: 'imaging',
        url: 's3://?profile=imaging',
        note: 'Its keys come from an SSO session.',
      },
      {
        from: 'rclone',
        name: 'minio',
        url: 's3://?endpoint=http%3A%2F%2F10.0.0.4%3A9000&profile=rclone%3Aminio',
        note: 'Its keys stay in rclone.conf and are read there.',
      },
    ],
  };
}

function tellKeySources(): AnswerOf<'remotes.keySources'> {
  return {
    profiles: [
      { name: 'default', from: 'aws' },
      { name: 'imaging', from: 'aws' },
      { name: 'rclone:minio', from: 'rclone' },
    ],
    hasEnvironmentKeys: false,
  };
}

function usageRow(month: string, place: string, transfers: number, total: number): UsageRow {
  const requests: RequestTotals = {
    reads: Math.round(total * 0.4),
    writes: Math.round(total * 0.5),
    lists: Math.round(total * 0.1),
    deletes: 0,
    total,
    sentBytes: total * 190_000,
    receivedBytes: total * 61_000,
    dollars: total * 0.0000031,
  };
  return { month, place, transfers, requests };
}

function tellUsage(): AnswerOf<'remotes.usage'> {
  return {
    months: [
      usageRow('2026-11', 's3://genomes-lab/north-coast', 31, 48_120),
      usageRow('2026-11', 's3://ada-archive', 4, 9_410),
      usageRow('2026-10', 's3://genomes-lab/north-coast', 22, 30_904),
      usageRow('2026-10', '/home/ada/photos/ to backup:photos/', 6, 2_210),
    ],
  };
}

let peers: readonly KnownPeer[] = [
  { address: 'dray://10.0.8.2:7443', token: 'kept', fingerprint: 'A7:'.repeat(31).concat('A7') },
];

function keepToken({ peer }: InputOf<'peers.login'>): AnswerOf<'peers.login'> {
  const address = `dray://${peer.replace('dray://', '')}`;
  peers = [...peers.filter((one) => one.address !== address), { address, token: 'kept' }];
  return { address };
}

function forgetToken({ peer }: InputOf<'peers.logout'>): AnswerOf<'peers.logout'> {
  peers = peers.filter(({ address }) => address !== peer);
  return { address: peer };
}

export const remotesFixture: FixtureHandlers = {
  'remotes.list': listRemotes,
  'remotes.add': addRemote,
  'remotes.remove': removeRemote,
  'remotes.test': testRemote,
  'remotes.keySources': tellKeySources,
  'remotes.importable': listImportable,
  'remotes.usage': tellUsage,
  'peers.list': () => ({ peers }),
  'peers.login': keepToken,
  'peers.logout': forgetToken,
  'peers.trust': () => ({}),
};
