/**
 * The scenarios that ask what a destination lacks: plain trees by a dry run, repositories with one object per
 * content by a query.
 */
import { formatCount } from '../../engine/api/text/numbers.ts';
import type { DatasetShape } from '../data/dataset.ts';
import type { ContenderName } from '../entrants/contender.ts';
import {
  type DryRunOptions,
  needsOfDryRun,
  openDryRun,
  RCLONE_WITHOUT_LISTING,
  S5CMD_ONE_BY_ONE,
} from '../entrants/dry-run-entrants.ts';
import { needsOfExistence, openExistence } from '../entrants/existence-entrants.ts';
import { createUnable } from '../entrants/transfer-entrants.ts';
import type { Target } from '../page/results.ts';
import type { Needs } from './holding.ts';
import { addRooms } from './room.ts';
import type { Scenario } from './scenario.ts';

export interface ExistenceShapes {
  readonly many: DatasetShape;
  /** Too many for anything but listings. */
  readonly compared: DatasetShape;
}

/** aws compares like the others, but its dry run takes minutes. */
export const DRY_RUNNERS: readonly ContenderName[] = ['dray copy', 'rclone', 'rclone (defaults)', 's5cmd'];
/** A peer that takes longer is slow enough; on a slow machine Dray hashes a million files in half of it. */
const COMPARED_LIMIT_MS = 5 * 60_000;
/**
 * Tools that take longer than that for a million missing files, even on a fast machine; another try shows
 * nothing new.
 */
const SLOW_WITHOUT_LISTING: readonly string[] = ['s5cmd', RCLONE_WITHOUT_LISTING, S5CMD_ONE_BY_ONE];
const SLOW_FROM_FILES = 1_000_000;
const TOO_SLOW = 'left out: it took over 5 minutes each time it was tried';
const TARGETS: readonly Target[] = [
  {
    kind: 'ratio',
    of: 'dray copy',
    toBestOf: [...DRY_RUNNERS.slice(1), RCLONE_WITHOUT_LISTING, S5CMD_ONE_BY_ONE],
    atMost: 0.5,
  },
  { kind: 'ratio', of: 'dray', toBestOf: ['dvc'], atMost: 0.5 },
];

export function createExistence({ compared, many }: ExistenceShapes): readonly Scenario[] {
  const objects = formatCount(many.files);
  const all = formatCount(compared.files);
  const some = Math.floor(many.files / 100);
  const tenth = Math.floor(compared.files / 10);
  return [
    create('dry-500', `${formatCount(some)} files, a fifth of them changed, against ${objects} objects`, {
      stored: many,
      local: { kind: 'some', files: some, changed: Math.floor(some / 5) },
    }),
    create('dry-1', `1 changed file against ${objects} objects`, {
      stored: many,
      local: { kind: 'some', files: 1, changed: 1 },
    }),
    create('dry-50k', `${objects} files against an empty prefix`, { local: { kind: 'all', shape: many } }),
    createBySize('dry-100k-1m', `${formatCount(tenth)} files, 1 of them changed, against ${all} objects`, {
      stored: compared,
      local: { kind: 'some', files: tenth, changed: 1 },
    }),
    createBySize('dry-1-1m', `1 changed file against ${all} objects`, {
      stored: compared,
      local: { kind: 'some', files: 1, changed: 1 },
    }),
    withoutSlow(
      createBySize('dry-1m', `${all} files against an empty prefix`, {
        local: { kind: 'all', shape: compared },
      }),
      compared.files >= SLOW_FROM_FILES ? SLOW_WITHOUT_LISTING : [],
    ),
  ];
}

type Question = Pick<DryRunOptions, 'stored' | 'local' | 'by'>;

function create(name: string, title: string, question: Question): Scenario {
  return {
    name,
    title: `Dry run of ${title}`,
    targets: TARGETS,
    needs: needsOf(question),
    open: async (bench, latencyMs) => [
      ...(await openDryRun(bench, { ...question, contenders: DRY_RUNNERS, latencyMs })),
      ...(await openExistence(bench, { ...question, latencyMs })),
    ],
  };
}

/** Trees and repositories share the local folder. */
function needsOf(question: Question): Needs {
  const [trees, repositories] = [needsOfDryRun(question), needsOfExistence(question)];
  return {
    holdings: [...trees.holdings, ...repositories.holdings],
    source: addRooms(trees.source, repositories.source),
  };
}

function createBySize(name: string, title: string, question: Question): Scenario {
  return {
    ...create(name, `${title}, by size or content`, { ...question, by: 'size' }),
    limitMs: COMPARED_LIMIT_MS,
  };
}

/** The named tools take no part, each with the reason. */
export function withoutSlow(scenario: Scenario, slow: readonly string[]): Scenario {
  return {
    ...scenario,
    open: async (bench, latencyMs) => {
      const field = await scenario.open(bench, latencyMs);
      return field.map((entrant) =>
        slow.includes(entrant.name)
          ? { name: entrant.name, kind: entrant.kind, ...createUnable(TOO_SLOW) }
          : entrant,
      );
    },
  };
}
