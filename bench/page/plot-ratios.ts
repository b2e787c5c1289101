/** Draws bars of the peers' times relative to Dray's, on a logarithmic axis. */
import { formatDuration } from '../../engine/api/text/numbers.ts';
import type { EntrantResult } from './results.ts';
import { keyOf, type ResultRow, wallOf } from './results-rows.ts';
import { drawRule, drawSvg, drawText, logScale, round } from './svg.ts';

const WIDTH = 860;
const LABELS_WIDTH = 224;
const RIGHT = 70;
const TOP = 74;
const HEADING_HEIGHT = 24;
const BAR_HEIGHT = 11;
const BAR_STEP = 16;
const ROW_GAP = 8;
const BOTTOM = 14;
const TITLE_CHARACTERS_MAX = 100;

interface Bar {
  readonly name: string;
  readonly wallMs: number;
  readonly ratio: number;
}

interface Block {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly absent: readonly string[];
}

/** @returns Undefined where no row has a peer to compare with. */
export function plotRatios(title: string, rows: readonly ResultRow[]): string | undefined {
  const blocks = rows.flatMap((row) => createBlock(row) ?? []);
  const ratios = blocks.flatMap(({ bars }) => bars.map(({ ratio }) => ratio));
  if (ratios.length === 0) return undefined;
  const heights = blocks.map(
    ({ absent, bars }) => HEADING_HEIGHT + (bars.length + absent.length) * BAR_STEP + ROW_GAP,
  );
  const height = TOP + heights.reduce((sum, one) => sum + one, 0) + BOTTOM;
  const scale = logScale([1, ...ratios], { from: LABELS_WIDTH, to: WIDTH - RIGHT });
  const shapes = [
    drawText(title, { x: 16, y: 24 }, { kind: 'ink large' }),
    drawText(
      "Time of each tool, in its quickest way, as a multiple of Dray's; logarithmic. Right of the line: slower than Dray. Left: quicker.",
      { x: 16, y: 43 },
      { kind: 'faint small' },
    ),
    ...scale.ticks.flatMap((tick) => [
      drawRule(tick === 1 ? 'base' : 'grid', [scale.at(tick), TOP - 6], [scale.at(tick), height - BOTTOM]),
      drawText(
        tick === 1 ? 'Dray' : `${tick}x`,
        { x: scale.at(tick), y: TOP - 11 },
        { kind: tick === 1 ? 'ink small head' : 'faint small', anchor: 'middle' },
      ),
    ]),
  ];
  let y = TOP;
  for (const [index, block] of blocks.entries()) {
    shapes.push(...drawBlock(block, y, scale.at));
    y += heights[index] ?? 0;
  }
  return drawSvg({ width: WIDTH, height, title }, shapes);
}

function createBlock(row: ResultRow): Block | undefined {
  const { own, result } = row;
  if (own?.outcome.state !== 'measured') return undefined;
  const ownMs = wallOf(own);
  const { shown, absent } = bestOfEach(result.entrants.filter(({ files }) => files === own.files));
  if (shown.length === 0) return undefined;
  const others = shown.map((entrant) => ({
    name: entrant.name,
    wallMs: wallOf(entrant),
    ratio: wallOf(entrant) / ownMs,
  }));
  const heading = `${result.title}: ${formatDuration(ownMs)}`;
  const title = heading.length > TITLE_CHARACTERS_MAX ? `${keyOf(row)}: ${formatDuration(ownMs)}` : heading;
  return { title, bars: others, absent };
}

/** The fastest way of a tool that takes part in several (`rclone`, `rclone (defaults)`): what it can do. */
function bestOfEach(entrants: readonly EntrantResult[]): {
  readonly shown: readonly EntrantResult[];
  /** Tools that finished in no way. */
  readonly absent: readonly string[];
} {
  const best = new Map<string, EntrantResult>();
  for (const entrant of entrants) {
    if (entrant.kind !== 'peer') continue;
    const tool = entrant.name.split(' (')[0] ?? entrant.name;
    const present = best.get(tool);
    if (!present || wallOf(entrant) < wallOf(present)) best.set(tool, entrant);
  }
  const all = [...best.entries()];
  return {
    shown: all
      .map(([, entrant]) => entrant)
      .filter(({ outcome }) => outcome.state === 'measured')
      .sort((left, right) => wallOf(left) - wallOf(right)),
    absent: all.flatMap(([tool, { outcome }]) =>
      outcome.state === 'measured' ? [] : [`${tool}: ${outcome.state}`],
    ),
  };
}

function drawBlock(block: Block, top: number, at: (ratio: number) => number): readonly string[] {
  const shapes = [drawText(block.title, { x: 16, y: top + 16 }, { kind: 'ink head' })];
  let y = top + HEADING_HEIGHT;
  for (const { name, ratio, wallMs } of block.bars) {
    const [from, to] = ratio < 1 ? [at(ratio), at(1)] : [at(1), at(ratio)];
    const kind = ratio < 1 ? 'quicker' : 'slower';
    const label = `${name}: ${formatDuration(wallMs)}`;
    const x = { x: LABELS_WIDTH - 14, y: y + BAR_HEIGHT - 1 };
    shapes.push(
      drawText(label, x, { kind: 'ink small', anchor: 'end' }),
      `<rect class="${kind}" x="${round(from)}" y="${y}" width="${round(Math.max(1, to - from))}" height="${BAR_HEIGHT}" rx="2"/>`,
      drawText(formatRatio(ratio), { x: to + 6, y: y + BAR_HEIGHT - 1 }, { kind: 'ink small' }),
    );
    y += BAR_STEP;
  }
  for (const label of block.absent) {
    shapes.push(
      drawText(
        label,
        { x: LABELS_WIDTH - 14, y: y + BAR_HEIGHT - 1 },
        { kind: 'faint small', anchor: 'end' },
      ),
    );
    y += BAR_STEP;
  }
  return shapes;
}

function formatRatio(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)}x`;
}
