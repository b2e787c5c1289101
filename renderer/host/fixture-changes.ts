/**
 * Changes and plans of the fixture host. `?fixture=million` has a million rows, `?fixture=clean` none, and `?fixture=away` a remote that
 * does not answer.
 */
import { DrayError } from '../../engine/api/error.ts';
import type {
  AnswerOf,
  ChangeList,
  ChangeRow,
  ChangeView,
  FilePreview,
  InputOf,
} from '../../engine/api/host.ts';
import type { ChangeTotals } from '../../engine/api/jobs.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';
import { FIXTURE_IMAGE } from './fixture-image.ts';

const MIB = 1024 ** 2;
const VARIANT = new URLSearchParams(globalThis.location?.search).get('fixture');

type Kind = ChangeRow['change'];

function file(change: Kind, path: string, sizeBytes: number, more: Partial<ChangeRow> = {}): ChangeRow {
  return { change, path, kind: 'file', sizeBytes, ...more };
}

const PUSH_ROWS: readonly ChangeRow[] = [
  file('modified', 'README.md', 2_312, { oldSizeBytes: 2_140 }),
  file('modified', 'annotations/genes.csv', 4.2 * MIB, { oldSizeBytes: 4.1 * MIB }),
  file('added', 'annotations/reviewers.csv', 8_411),
  file('deleted', 'annotations/unreviewed.csv', 1.1 * MIB),
  file('modified', 'figures/coast.png', 1_268, { oldSizeBytes: 1_240 }),
  file('added', 'figures/coverage.png', 88_120),
  file('mode', 'pipeline/align.sh', 3_204),
  file('modified', 'pipeline/config.yaml', 1_830, { oldSizeBytes: 1_711 }),
  file('renamed', 'pipeline/steps/call-variants.py', 9_120, { fromPath: 'pipeline/call.py' }),
  ...Array.from({ length: 24 }, (_, index) =>
    file('added', `reads/run-${String(index + 8).padStart(2, '0')}/lane-1.fastq`, (690 + 7 * index) * MIB),
  ),
  ...Array.from({ length: 18 }, (_, index) =>
    file('deleted', `scratch/tmp-${String(index + 1).padStart(3, '0')}.bam`, (40 + index) * MIB),
  ),
];

const PULL_ROWS: readonly ChangeRow[] = [
  file('added', 'annotations/controls.csv', 24_100),
  file('conflict', 'annotations/genes.csv', 4.3 * MIB, { oldSizeBytes: 4.2 * MIB }),
  file('modified', 'figures/coast.png', 1_268, { oldSizeBytes: 1_240 }),
  file('conflict', 'pipeline/config.yaml', 1_790, { oldSizeBytes: 1_830 }),
  file('deleted', 'pipeline/legacy.sh', 4_020),
];

const MILLION_KINDS: readonly Kind[] = ['added', 'added', 'modified', 'added', 'deleted', 'added', 'renamed'];

function millionRow(index: number): ChangeRow {
  const tile = String(index % 1_000).padStart(3, '0');
  const path = `tiles/z${String(Math.floor(index / 1_000)).padStart(3, '0')}/tile-${tile}.tif`;
  const change = MILLION_KINDS[index % 997 === 0 ? 4 : index % 4]!;
  return file(change, path, 90_000 + (index % 4_096) * 64);
}

let lists = 0;
const opened = new Map<string, { readonly count: number; readonly at: (index: number) => ChangeRow }>();

function open({ direction }: InputOf<'changes.open'>): ChangeList {
  if (VARIANT === 'away' && direction === 'pull')
    throw new DrayError('unreachable', 'The remote "lab" does not answer: connect ETIMEDOUT 10.0.8.2:443.');
  const list = `list ${++lists}`;
  const isMillion = VARIANT === 'million' && direction === 'push';
  const rows = VARIANT === 'clean' ? [] : direction === 'push' ? PUSH_ROWS : PULL_ROWS;
  const rowsOf = isMillion
    ? { count: 1_000_000, at: millionRow }
    : { count: rows.length, at: (index: number) => rows[index]! };
  if (opened.size > 8) opened.clear();
  opened.set(list, rowsOf);
  const counts: Record<Kind, number> = {
    added: 0,
    modified: 0,
    deleted: 0,
    renamed: 0,
    mode: 0,
    time: 0,
    conflict: 0,
  };
  let bytes = 0;
  for (let index = 0; index < rowsOf.count; index += 1) {
    const { change, sizeBytes } = rowsOf.at(index);
    counts[change] += 1;
    if (change === 'added' || change === 'modified') bytes += sizeBytes;
  }
  const { added, modified, deleted, renamed, mode, conflict } = counts;
  const totals: ChangeTotals = { added, modified, deleted, renamed, mode, bytes };
  return {
    list,
    direction,
    totals,
    conflicts: conflict,
    failed: 0,
    ...(direction === 'pull' ? { commit: 'b3aa'.repeat(16) } : {}),
  };
}

const views = new Map<string, readonly ChangeRow[] | undefined>();

function rows({ list, offset, limit, view }: InputOf<'changes.rows'>): AnswerOf<'changes.rows'> {
  const all = opened.get(list);
  if (!all) throw new DrayError('notFound', 'This list of changes is gone. Open it again.');
  const key = `${list} ${JSON.stringify(view)}`;
  if (!views.has(key)) {
    views.clear();
    views.set(key, makeView(all, view));
  }
  const made = views.get(key);
  if (made) return { total: made.length, rows: made.slice(offset, offset + limit) };
  const end = Math.min(all.count, offset + limit);
  return {
    total: all.count,
    rows: Array.from({ length: Math.max(0, end - offset) }, (_, at) => all.at(offset + at)),
  };
}

function find({ list, paths, root }: InputOf<'changes.find'>): AnswerOf<'changes.find'> {
  const parents = paths.map((path) => path.slice(0, path.lastIndexOf('/', path.length - 2) + 1));
  const above = parents.flatMap((path) =>
    [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)),
  );
  const view = { open: ['', ...above] };
  const all = rows({ root, list, offset: 0, limit: Number.MAX_SAFE_INTEGER, view }).rows;
  return { rows: all.filter(({ path }) => paths.includes(path)) };
}

/** Undefined: all rows as they are. */
function makeView(
  { count, at }: { readonly count: number; readonly at: (index: number) => ChangeRow },
  { filter = '', kinds, sort, open: folders }: ChangeView,
): readonly ChangeRow[] | undefined {
  if (filter === '' && !kinds && sort !== 'size' && !folders) return undefined;
  const needle = filter.toLowerCase();
  const chosen: ChangeRow[] = [];
  for (let index = 0; index < count; index += 1) {
    const row = at(index);
    if (kinds && !kinds.includes(row.change)) continue;
    if (needle === '' || row.path.toLowerCase().includes(needle)) chosen.push(row);
  }
  if (folders) return asTree(chosen, new Set(folders));
  return sort === 'size' ? chosen.sort((a, b) => b.sizeBytes - a.sizeBytes) : chosen;
}

function asTree(chosen: readonly ChangeRow[], open: ReadonlySet<string>): ChangeRow[] {
  const shown: ChangeRow[] = [];
  const heads = new Map<string, number>();
  for (const row of chosen) {
    let isShown = open.has('');
    for (let slash = row.path.indexOf('/'); slash >= 0; slash = row.path.indexOf('/', slash + 1)) {
      const folder = row.path.slice(0, slash + 1);
      let head = heads.get(folder);
      if (head === undefined && isShown) {
        head = shown.length;
        heads.set(folder, head);
        shown.push({
          change: row.change,
          path: folder,
          kind: 'folder',
          sizeBytes: 0,
          below: { rows: 0, deleted: 0, bytes: 0 },
        });
      }
      if (head !== undefined) shown[head] = withBelow(shown[head]!, row);
      isShown &&= open.has(folder);
    }
    if (isShown) shown.push(row);
  }
  return shown;
}

function withBelow(folder: ChangeRow, row: ChangeRow): ChangeRow {
  const { rows: count, deleted, bytes } = folder.below!;
  const isSent = row.change === 'added' || row.change === 'modified';
  return {
    ...folder,
    change: folder.change === row.change ? folder.change : 'modified',
    sizeBytes: folder.sizeBytes + row.sizeBytes,
    below: {
      rows: count + 1,
      deleted: deleted + (row.change === 'deleted' ? 1 : 0),
      bytes: bytes + (isSent ? row.sizeBytes : 0),
    },
  };
}

const CONFIG_BEFORE = `# The pipeline of the northern coast
reference: GRCh38
kit: v1
threads: 16

align:
  tool: bwa-mem2
  batch: 100000
  keep_unmapped: true

call:
  tool: deepvariant
  model: WGS
  min_depth: 8
  min_quality: 20

report:
  title: Coast, spring
  figures:
    - coverage
    - coast
  format: html
  contact: ada@example.org
  language: en
  footer: Draft, not for circulation
`;

const CONFIG_AFTER = CONFIG_BEFORE.replace('kit: v1', 'kit: v2')
  .replace('  min_depth: 8\n', '  min_depth: 12\n  max_depth: 400\n')
  .replace('  footer: Draft, not for circulation\n', '');

function preview({ path }: InputOf<'changes.preview'>): AnswerOf<'changes.preview'> {
  const row = [...PUSH_ROWS, ...PULL_ROWS].find((one) => one.path === path) ?? millionRow(3);
  const facts = {
    sizeBytes: row.sizeBytes,
    mtime: '2026-11-20T15:02:00Z',
    hash: 'd41f8cd98f00b204e980'.repeat(3),
  };
  const oldFacts = {
    sizeBytes: row.oldSizeBytes ?? row.sizeBytes,
    mtime: '2026-11-12T08:40:00Z',
    hash: '0b11c2aa7e3f90d6'.repeat(4),
  };
  const side = (isAfter: boolean): FilePreview => {
    const its = isAfter ? facts : oldFacts;
    if (/\.png$/.test(path)) return { as: 'image', mime: 'image/png', base64: FIXTURE_IMAGE, facts: its };
    if (/\.(md|csv|yaml|sh|py)$/.test(path))
      return { as: 'text', text: isAfter ? CONFIG_AFTER : CONFIG_BEFORE, isCut: false, facts: its };
    return { as: 'facts', facts: its };
  };
  return {
    ...(row.change === 'added' ? {} : { before: side(false) }),
    ...(row.change === 'deleted' ? {} : { after: side(true) }),
  };
}

const FIRST: ChangeTotals = {
  added: 38,
  modified: 0,
  deleted: 0,
  renamed: 0,
  mode: 0,
  bytes: 212 * 1024 ** 3,
};

function status({ root }: InputOf<'changes.status'>): AnswerOf<'changes.status'> {
  const totals = /genomes$/.test(root) ? open({ root, direction: 'push' }).totals : FIRST;
  return {
    branch: 'main',
    commit: '9c41'.repeat(16),
    files: 9_870,
    bytes: 11.6 * 1024 ** 3,
    changes: totals,
    failed: 0,
  };
}

function plan(): AnswerOf<'plan.push'> {
  return {
    query: {
      mode: 'auto',
      wanted: 24_310,
      removedByIndex: 19_870,
      candidates: 4_440,
      remoteObjects: { estimate: 1_204_000, low: 1_096_000, high: 1_318_000, from: 'sample' },
      sampledPrefixes: 32,
      each: { requests: 4_440, seconds: 1.9, dollars: 0.00178 },
      list: { requests: 1_204, seconds: 9.6, dollars: 0.00602 },
      breakEvenObjects: 238_000,
      chosen: 'each',
      reason:
        'Asking for each of 4,440 objects takes 1.9 s; listing some 1,204,000 objects would take 9.6 s.',
    },
    requests: {
      reads: 4_472,
      writes: 318,
      lists: 33,
      deletes: 0,
      total: 4_823,
      sentBytes: 17.2 * 1024 ** 3,
      receivedBytes: 2.4 * MIB,
      dollars: 0.00353,
    },
    changes: { added: 26, modified: 4, deleted: 19, renamed: 1, mode: 1, bytes: 17.2 * 1024 ** 3 },
    objects: 308,
  };
}

export const changesFixture: FixtureHandlers = {
  'changes.open': open,
  'changes.rows': rows,
  'changes.find': find,
  'changes.close': () => ({}),
  'changes.preview': preview,
  'changes.status': status,
  'plan.push': plan,
};
