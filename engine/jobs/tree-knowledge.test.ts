import { readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, eventsOf, type Sandbox, testContext } from './job-fixture.ts';
import { openKnowledge } from './tree-knowledge.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

function open({ pair = ['here', 'there'] as readonly [string, string], noIndex = false } = {}) {
  const told = testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
  return { told, ...openKnowledge(told, { pair, noIndex, nowMs: Date.now() }) };
}

const tokens = (sourceToken: string, destinationToken: string) => ({ sourceToken, destinationToken });

describe('What is known of a pair of places', () => {
  it('is known to the next run, with what proved it', () => {
    const first = open();
    first.note('a', tokens('s1', 'd1'), 'content');
    first.note('b', tokens('s2', 'd2'), 'time');
    first.close();
    const next = open();
    expect(next.recall('a', tokens('s1', 'd1'))).toBe('equal');
    expect(next.recall('b', tokens('s2', 'd2'))).toBe('equalByTime');
    expect(next.recall('c', tokens('s1', 'd1'))).toBe('unknown');
    next.close();
  });

  it('is known the other way round as well, and to no other pair', () => {
    const first = open();
    first.note('a', tokens('here1', 'there1'), 'content');
    first.close();
    const back = open({ pair: ['there', 'here'] });
    expect(back.recall('a', tokens('there1', 'here1'))).toBe('equal');
    expect(back.recall('a', tokens('there2', 'here1'))).toBe('sourceChanged');
    expect(back.recall('a', tokens('there1', 'here2'))).toBe('unknown');
    back.close();
    const other = open({ pair: ['here', 'elsewhere'] });
    expect(other.recall('a', tokens('here1', 'there1'))).toBe('unknown');
    other.close();
  });

  it('is nothing where nothing vouches for one of the two', () => {
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

  it('is not asked with noIndex, but learned', () => {
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

  it('is forgotten of what was deleted', () => {
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

  it('is begun anew when its file is damaged, with a warning', () => {
    const first = open();
    first.note('a', tokens('s', 'd'), 'content');
    first.close();
    const folder = sandbox.path('cache/trees');
    for (const name of readdirSync(folder))
      writeFileSync(`${folder}/${name}`, 'no database at all'.repeat(500));
    const next = open();
    expect(next.recall('a', tokens('s', 'd'))).toBe('unknown');
    expect(eventsOf(next.told, 'warning')).toMatchObject([{ warning: 'indexRebuilt' }]);
    next.note('a', tokens('s', 'd'), 'content');
    next.close();
    const last = open();
    expect(last.recall('a', tokens('s', 'd'))).toBe('equal');
    last.close();
  });
});
