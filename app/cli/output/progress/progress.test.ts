import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProgressEvent } from '../../../../engine/api/events.ts';
import { displayWidth } from '../display-width.ts';
import { toTerminalLine } from '../terminal-text.ts';
import { formatProgressBlock } from './progress-block.ts';
import {
  createLiveProgress,
  createLoggedProgress,
  type LiveTarget,
  type LogTarget,
  type ProgressDisplay,
} from './progress-display.ts';
import { formatPhaseEnd, formatProgressLine } from './progress-line.ts';
import { ProgressMeter, type ProgressSnapshot } from './progress-meter.ts';

const MIB = 1024 * 1024;

function upload(values: Partial<ProgressEvent>): ProgressEvent {
  return { type: 'progress', phase: 'upload', filesDone: 0, bytesDone: 0, requests: 0, ...values };
}

describe('ProgressMeter', () => {
  it('computes a steady rate and the remaining time', () => {
    const meter = new ProgressMeter();
    for (let second = 0; second <= 10; second += 1) {
      meter.accept(upload({ bytesDone: second * 10 * MIB, bytesTotal: 200 * MIB }), second * 1000);
    }
    const snapshot = meter.snapshot(10_000);
    expect(snapshot?.bytesPerSecond).toBeCloseTo(10 * MIB, -2);
    expect(snapshot?.etaMs).toBeCloseTo(10_000, -2);
    expect(snapshot?.elapsedMs).toBe(10_000);
  });

  it('lowers the rate while nothing arrives', () => {
    const meter = new ProgressMeter();
    meter.accept(upload({}), 0);
    meter.accept(upload({ bytesDone: 10 * MIB }), 1_000);
    expect(meter.snapshot(60_000)?.bytesPerSecond).toBeLessThan(MIB / 100);
  });

  it('estimates the time from files when bytes are not counted', () => {
    const meter = new ProgressMeter();
    meter.accept(upload({ filesTotal: 100 }), 0);
    meter.accept(upload({ filesDone: 50, filesTotal: 100 }), 5_000);
    expect(meter.snapshot(5_000)?.etaMs).toBeCloseTo(5_000, -1);
  });

  it('shows the phase that began last, and returns the one it replaced', () => {
    const meter = new ProgressMeter();
    expect(meter.accept({ type: 'phase', phase: 'hash' }, 0)).toBeUndefined();
    const ended = meter.accept(upload({ filesDone: 1 }), 3_000);
    expect(ended).toMatchObject({ phase: 'hash', elapsedMs: 3_000 });
    meter.accept({ ...upload({ filesDone: 9 }), phase: 'hash' }, 4_000);
    expect(meter.snapshot(4_000)).toMatchObject({ phase: 'upload', filesDone: 1 });
  });
});

describe('formatProgressLine', () => {
  const full = {
    phase: 'upload',
    elapsedMs: 5_000,
    filesDone: 1_234,
    filesTotal: 50_000,
    bytesDone: 120 * MIB,
    bytesTotal: 977 * MIB,
    requests: 1_300,
    bytesPerSecond: 34.2 * MIB,
    filesPerSecond: 250,
    etaMs: 25_000,
  } as const;

  it('shows every part when there is room', () => {
    expect(formatProgressLine(full, 120)).toBe(
      'uploading 1,234/50,000 files, 120 MiB/977 MiB, 12%, 34.2 MiB/s, 1,300 requests, ETA 0:25',
    );
  });

  it('drops the least important parts when room is short', () => {
    expect(formatProgressLine(full, 60)).toBe('uploading 120 MiB/977 MiB, 12%, 34.2 MiB/s, ETA 0:25');
    expect(formatProgressLine(full, 20)).toBe('uploading 12%');
  });

  it('uses the singular for one file, and has no double spaces', () => {
    const one = {
      ...full,
      filesDone: 1,
      filesTotal: 0,
      bytesTotal: 0,
      bytesDone: 0,
      bytesPerSecond: 0,
      requests: 1,
    };
    const { etaMs: _, ...bare } = one;
    expect(formatProgressLine({ ...bare, phase: 'verify', filesPerSecond: 1 }, 120)).toBe(
      'verifying 1 file, 1 file/s, 1 request',
    );
    const rest = { ...bare, filesPerSecond: 0, requests: 0 };
    expect(formatProgressLine({ ...rest, filesDone: 0, filesTotal: 1 }, 120)).toBe('uploading 0/1 file, 0%');
    expect(formatProgressLine({ ...rest, filesTotal: 1, isCounting: true }, 120)).toBe(
      'uploading 1/1+ files',
    );
    expect(formatProgressLine({ ...rest, filesDone: 0 }, 120)).toBe('uploading');
  });

  it('marks totals that may still grow with a plus', () => {
    const { etaMs: _, ...growing } = { ...full, isCounting: true };
    expect(formatProgressLine(growing, 120)).toBe(
      'uploading 1,234/50,000+ files, 120 MiB/977 MiB+, 34.2 MiB/s, 1,300 requests',
    );
  });

  it('is never wider than the terminal', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(), fc.nat(), (columns, filesDone, bytesDone) => {
        expect(formatProgressLine({ ...full, filesDone, bytesDone }, columns).length).toBeLessThanOrEqual(
          columns,
        );
      }),
    );
  });

  it('shows 100% only when everything is done', () => {
    expect(formatProgressLine({ ...full, bytesDone: 977 * MIB - 1 }, 120)).toContain('99%');
    expect(formatProgressLine({ ...full, bytesDone: 977 * MIB }, 120)).toContain('100%');
  });

  it('sums a phase up for logs', () => {
    expect(formatPhaseEnd(full)).toBe('uploaded: 1,234 files, 120 MiB, 1,300 requests in 5.0 s');
  });
});

describe('formatProgressBlock', () => {
  const plain = (_color: string, text: string) => text;
  const upload = {
    phase: 'upload',
    elapsedMs: 65_000,
    filesDone: 1,
    filesTotal: 3,
    bytesDone: 120 * MIB,
    bytesTotal: 480 * MIB,
    requests: 12,
    bytesPerSecond: 30 * MIB,
    filesPerSecond: 0,
    etaMs: 12_000,
  } as const;
  const block = (progress: ProgressSnapshot, columns = 79, rows = 23) =>
    formatProgressBlock(progress, { columns, rows }, plain);

  it('shows share, rate, time left, and the files under way', () => {
    const underWay = [
      { path: 'a/birds.tar', bytesDone: 60 * MIB, sizeBytes: 240 * MIB },
      { path: 'whole.bin', bytesDone: 0, sizeBytes: 5 * MIB },
    ];
    expect(block({ ...upload, underWay })).toEqual([
      'uploading [=====>               ]  25%  120 MiB/480 MiB  30.0 MiB/s  0:12 left',
      '  1/3 files, 12 requests, 1:05 so far',
      '   25% of   240 MiB  a/birds.tar',
      '            5.0 MiB  whole.bin',
    ]);
  });

  it('says that a total is not known instead of showing a share', () => {
    const { etaMs: _, ...rest } = upload;
    const [counting] = block({ ...rest, isCounting: true });
    expect(counting).toBe('uploading  120 MiB of 480 MiB found so far  30.0 MiB/s  total not known yet');
    const { bytesTotal: __, filesTotal: ___, ...unknown } = rest;
    expect(block({ ...unknown, phase: 'scan' })[0]).toBe(
      'scanning  120 MiB  30.0 MiB/s  total not known yet',
    );
  });

  it('says since when nothing has moved', () => {
    expect(block({ ...upload, stalledMs: 12_000 })[0]).toContain('nothing has moved for 0:12');
    expect(block({ ...upload, stalledMs: 9_000 })[0]).toContain('30.0 MiB/s');
  });

  it('escapes names and fits every terminal', () => {
    const names = ['evil\x1b[2J\n', '写真😀'.repeat(20), 'e\u0301'.repeat(90), `${'d/'.repeat(80)}file`];
    for (const path of names) {
      const underWay = [{ path, bytesDone: 1, sizeBytes: 2 }];
      for (let columns = 1; columns <= 120; columns += 1) {
        for (const line of block({ ...upload, underWay }, columns)) {
          expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          expect(toTerminalLine(line)).toBe(line);
        }
      }
    }
    expect(block(upload, 79, 1)).toHaveLength(1);
    expect(block({ ...upload, underWay: [{ path: names[3]!, bytesDone: 1, sizeBytes: 2 }] }, 60)[2]).toMatch(
      /^ +50% of +2 B {2}d\/[d/]+\.\.\.[d/]+\/file$/,
    );
  });
});

type Create = (target: LiveTarget & LogTarget) => ProgressDisplay;

/** A display on a clock that the test controls. */
function createStage(create: Create, columns = 80) {
  let nowMs = 0;
  const written: string[] = [];
  const display = create({
    writeLine: (line) => {
      written.push(line);
    },
    draw: (lines) => {
      written.push(lines.join('\n'));
    },
    clear: () => {
      written.push('cleared');
    },
    size: () => ({ columns, rows: 24 }),
    onResize: () => () => {},
    paint: (_color, text) => text,
    clock: { monotonicMs: () => nowMs },
  });
  return {
    display,
    written,
    at: (timeMs: number, event: ProgressEvent) => {
      nowMs = timeMs;
      display.accept(event);
    },
  };
}

describe('the live line', () => {
  it('does not appear for a quick command, and is drawn at most ten times a second', () => {
    const { display, written, at } = createStage(createLiveProgress);
    for (let timeMs = 0; timeMs < 240; timeMs += 10) at(timeMs, upload({ filesDone: timeMs }));
    expect(written).toEqual([]);
    for (let timeMs = 300; timeMs < 1_300; timeMs += 10) at(timeMs, upload({ filesDone: timeMs }));
    display.stop();
    expect(written.length).toBeGreaterThan(8);
    expect(written.length).toBeLessThanOrEqual(12);
  });

  it('leaves nothing on the screen', () => {
    const { display, written, at } = createStage(createLiveProgress, 30);
    at(0, upload({}));
    at(500, upload({ filesDone: 5 }));
    display.stop();
    expect(written).toEqual(['uploading  10 files/s\n  5 files, 0:01 so far', 'cleared']);
  });
});

describe.each<readonly [string, Create]>([
  ['the live line', createLiveProgress],
  ['progress in a log', createLoggedProgress],
])('%s', (_name, create) => {
  it('does not appear again after it was stopped, though its job continues', () => {
    const { display, written, at } = createStage(create);
    at(0, upload({}));
    at(20_000, upload({ filesDone: 1 }));
    display.stop();
    const before = [...written];
    expect(before).not.toEqual([]);
    at(40_000, upload({ filesDone: 2 }));
    at(60_000, { ...upload({}), phase: 'commit' });
    display.hide();
    expect(written).toEqual(before);
  });
});

describe('progress in a log', () => {
  it('is a line every ten seconds, and one for each phase that took a while', () => {
    const { display, written, at } = createStage(createLoggedProgress);
    at(0, { ...upload({}), phase: 'scan' });
    at(500, upload({ filesDone: 1 }));
    for (let timeMs = 1_000; timeMs <= 25_000; timeMs += 500) at(timeMs, upload({ filesDone: timeMs / 500 }));
    display.stop();
    display.stop();
    expect(written.map((line) => line.replace(/(?<=^uploading) .*| in .*/s, ''))).toEqual([
      'uploading',
      'uploading',
      'uploaded: 50 files',
    ]);
    for (const line of written) expect(toTerminalLine(line)).toBe(line);
  });
});
