import { readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TreeItem } from '../../model/tree-item.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { itemState, openKnowledge } from './pair-memory.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

function open({ pair = ['here', 'there'] as readonly [string, string], noIndex = false } = {}) {
  const reported = testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
  return { reported, ...openKnowledge(reported, { pair, noIndex, nowMs: Date.now() }) };
}

const tokens = (sourceToken: string, destinationToken: string) => ({ sourceToken, destinationToken });

describe('The memory of a pair of places', () => {
  it('serves the next run, with the proof', () => {
    const first = open();
    first.note('a', tokens('s1', 'd1'), 'content');
    first.note('b', tokens('s2', 'd2'), 'time');
    first.note('d', tokens('s3', 'd3'), 'contentAlone');
    first.close();
    const next = open();
    expect(next.recall('a', tokens('s1', 'd1'))).toBe('equal');
    expect(next.recall('b', tokens('s2', 'd2'))).toBe('equalByTime');
    expect(next.recall('d', tokens('s3', 'd3'))).toBe('equalContent');
    expect(next.recall('c', tokens('s1', 'd1'))).toBe('unknown');
    next.close();
  });

  it('serves the opposite direction as well, and no other pair', () => {
    const first = open();
    first.note('a', tokens('here1', 'there1'), 'content');
    first.close();
    const back = open({ pair: ['there', 'here'] });
    expect(back.recall('a', tokens('there1', 'here1'))).toBe('equal');
    expect(back.recall('a', tokens('there2', 'here1'))).toBe('unknown');
    expect(back.recall('a', tokens('there1', 'here2'))).toBe('unknown');
    back.close();
    const other = open({ pair: ['here', 'elsewhere'] });
    expect(other.recall('a', tokens('here1', 'there1'))).toBe('unknown');
    other.close();
  });

  it('holds for an object until it is uploaded again, and then for its content', () => {
    const object = (second: number): TreeItem => ({
      ...{ path: 'a', kind: 'object', sizeBytes: 1, token: 'etag' },
      modifiedMs: second * 1000 + 5,
    });
    const first = open();
    first.note('a', tokens(itemState(object(100)), 'file'), 'content');
    first.note('t', tokens(itemState(object(100)), 'file'), 'time');
    first.note('w', tokens('etag', 'file'), 'content');
    first.close();
    const next = open();
    const recalled = (path: string, second: number) =>
      next.recall(path, tokens(itemState(object(second)), 'file'));
    expect([recalled('a', 100), recalled('a', 101)]).toEqual(['equal', 'equalContent']);
    expect([recalled('t', 100), recalled('t', 101)]).toEqual(['equalByTime', 'unknown']);
    expect(recalled('w', 101), 'written by a run that did not know the second').toBe('equal');
    expect(next.recall('a', tokens(itemState({ ...object(100), token: 'etag2' }), 'file'))).toBe('unknown');
    next.close();
  });

  it('is empty where one of the two has no token', () => {
    const first = open();
    first.note('a', tokens('', 'd'), 'content');
    first.note('b', tokens('s', ''), 'content');
    first.close();
    const next = open();
    for (const path of ['a', 'b'])
      for (const pair of [tokens('', ''), tokens('s', ''), tokens('', 'd')])
        expect(next.recall(path, pair)).toBe('unknown');
    next.close();
  });

  it('is written but not read with noIndex', () => {
    const first = open({ noIndex: true });
    first.note('a', tokens('s', 'd'), 'content');
    first.close();
    const again = open({ noIndex: true });
    expect(again.recall('a', tokens('s', 'd'))).toBe('unknown');
    again.close();
    const next = open();
    expect(next.recall('a', tokens('s', 'd'))).toBe('equal');
    next.close();
  });

  it('drops deleted items', () => {
    const first = open();
    first.note('a', tokens('s', 'd'), 'content');
    first.close();
    const then = open();
    then.forget(['a']);
    then.close();
    const next = open();
    expect(next.recall('a', tokens('s', 'd'))).toBe('unknown');
    next.close();
  });

  it('starts empty with a warning when its file is damaged', () => {
    const first = open();
    first.note('a', tokens('s', 'd'), 'content');
    first.close();
    const folder = sandbox.path('cache/trees');
    for (const name of readdirSync(folder))
      writeFileSync(`${folder}/${name}`, 'no database at all'.repeat(500));
    const next = open();
    expect(next.recall('a', tokens('s', 'd'))).toBe('unknown');
    expect(eventsOf(next.reported, 'warning')).toMatchObject([{ warning: 'indexRebuilt' }]);
    next.note('a', tokens('s', 'd'), 'content');
    next.close();
    const last = open();
    expect(last.recall('a', tokens('s', 'd'))).toBe('equal');
    last.close();
  });
});
