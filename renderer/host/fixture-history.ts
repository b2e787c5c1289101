/** The history of the fixture host: two branches that merge, tags, and one tree that every commit holds. */
import type { CommitEvent } from '../../engine/api/events.ts';
import type { AnswerOf, ChangeRow, EntryRow, FilePreview, InputOf } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

const MIB = 1024 ** 2;

const SHAPE: readonly (readonly [
  commit: string,
  parents: string,
  author: string,
  message: string,
  refs: string,
])[] = [
  ['9c41', '77d0', 'Ada Okafor', 'Samples of November, runs 8 to 11', 'main'],
  ['b3aa', '5e19', 'Jun Watanabe', 'Relabel the control group', 'relabel'],
  ['77d0', 'a8f2 61bc', 'Ada Okafor', 'Merge the cleaned annotations', ''],
  ['61bc', '2d07', 'Mira Solberg', 'Drop annotations without a reviewer', ''],
  ['a8f2', '5e19', 'Ada Okafor', 'Recalibrate the second sensor', ''],
  ['2d07', '44ce', 'Mira Solberg', 'Clean annotations of runs 1 to 7', ''],
  ['5e19', '44ce', 'Jun Watanabe', 'Reads of run 7\n\nThe last one with the old kit.', 'v2.1'],
  ['44ce', '0b8d', 'Ada Okafor', 'Reads of runs 5 and 6', ''],
  ['0b8d', '90ef c7a1', 'Ada Okafor', 'Merge the reference of GRCh38', 'v2.0'],
  ['c7a1', '13fa', 'Mira Solberg', 'Reference of GRCh38', ''],
  ['90ef', '13fa', 'Jun Watanabe', 'Reads of runs 3 and 4', ''],
  ['13fa', 'e602', 'Ada Okafor', 'Reads of run 2', 'v1.0'],
  ['e602', '', 'Ada Okafor', 'First samples', ''],
];

function longId(short: string): string {
  return short === '' ? '' : short.repeat(16);
}

const COMMITS: readonly CommitEvent[] = SHAPE.map(([commit, parents, author, message, refs], index) => ({
  type: 'commit',
  commit: longId(commit),
  parents: parents.split(' ').filter(Boolean).map(longId),
  author: `${author} <${author.split(' ')[0]!.toLowerCase()}@example.org>`,
  message,
  time: new Date(Date.UTC(2026, 10, 20, 16, 40) - index * 31 * 3_600_000).toISOString(),
  files: 9_870 - index * 610,
  bytes: (11_600 - index * 780) * MIB,
  refs: refs.split(' ').filter(Boolean),
}));

const REFS: AnswerOf<'history.list'>['refs'] = [
  { name: 'main', kind: 'branch', commit: longId('9c41'), isCurrent: true },
  { name: 'relabel', kind: 'branch', commit: longId('b3aa'), isCurrent: false },
  { name: 'v2.1', kind: 'tag', commit: longId('5e19'), isCurrent: false },
  { name: 'v2.0', kind: 'tag', commit: longId('0b8d'), isCurrent: false },
  { name: 'v1.0', kind: 'tag', commit: longId('13fa'), isCurrent: false },
];

function listHistory({ branch, limit }: InputOf<'history.list'>): AnswerOf<'history.list'> {
  const start = REFS.find((ref) => ref.name === branch)?.commit;
  if (start === undefined) return { commits: COMMITS.slice(0, limit), refs: REFS };
  const wanted = new Set([start]);
  const commits = COMMITS.filter(({ commit, parents }) => {
    if (!wanted.has(commit)) return false;
    for (const parent of parents) wanted.add(parent);
    return true;
  });
  return { commits: commits.slice(0, limit), refs: REFS };
}

const TREE: Readonly<Record<string, readonly EntryRow[]>> = {
  '': [
    folder('annotations/'),
    folder('reads/'),
    folder('reference/'),
    file('README.md', 2_140),
    file('plot.png', 84_000),
    file('samples.csv', 91_400),
  ],
  'annotations/': [file('run-1.json', 310_000), file('run-2.json', 298_000), file('run-3.json', 402_000)],
  'reads/': Array.from({ length: 11 }, (_, index) => file(`run-${index + 1}.fastq`, (690 + 7 * index) * MIB)),
  'reference/': [file('GRCh38.fa', 3_100 * MIB), file('GRCh38.fa.fai', 157_000)],
};

function listCommitEntries({ folder: name }: InputOf<'history.entries'>): AnswerOf<'history.entries'> {
  return { entries: TREE[name] ?? [], isCut: false };
}

const CHANGES: readonly ChangeRow[] = [
  row('deleted', 'annotations/run-0.json', 201_000),
  { ...row('modified', 'annotations/run-3.json', 402_000), oldSizeBytes: 377_000 },
  row('added', 'reads/run-10.fastq', 753 * MIB),
  row('added', 'reads/run-11.fastq', 760 * MIB),
  row('added', 'reads/run-8.fastq', 739 * MIB),
  row('added', 'reads/run-9.fastq', 746 * MIB),
  { ...row('renamed', 'reference/GRCh38.fa', 3_100 * MIB), fromPath: 'reference/hg38.fa' },
  { ...row('modified', 'samples.csv', 91_400), oldSizeBytes: 70_100 },
];

function compareCommits(_input: InputOf<'history.compare'>): AnswerOf<'history.compare'> {
  const changes = { added: 4, modified: 2, deleted: 1, renamed: 1, mode: 0, bytes: 3_000 * MIB };
  return { changes, rows: CHANGES, isCut: false };
}

function previewAtCommit({ path }: InputOf<'history.preview'>): FilePreview {
  const facts = { sizeBytes: 2_140, mtime: '2026-11-18T09:12:00Z', hash: longId('5e19') };
  if (!/\.(md|csv|json)$/.test(path)) return { as: 'facts', facts };
  const text =
    '# Genomes of the north coast\n\nReads, annotations and the reference that they were mapped to.\n\n| run | kit | reads |\n| --- | --- | --- |\n| 7 | old | 41,220,118 |\n| 8 | new | 44,910,402 |\n';
  return { as: 'text', text, isCut: false, facts };
}

function folder(path: string): EntryRow {
  return { path, kind: 'folder', sizeBytes: 0 };
}

function file(path: string, sizeBytes: number): EntryRow {
  return { path, kind: 'file', sizeBytes, mtime: '2026-11-18T09:12:00Z' };
}

function row(change: ChangeRow['change'], path: string, sizeBytes: number): ChangeRow {
  return { change, path, kind: 'file', sizeBytes };
}

export const historyFixture: FixtureHandlers = {
  'history.list': listHistory,
  'history.entries': listCommitEntries,
  'history.compare': compareCommits,
  'history.planRestore': async () => ({ files: 1, bytes: 2_140, changed: 0, changedPaths: [] }),
  'history.preview': previewAtCommit,
};
