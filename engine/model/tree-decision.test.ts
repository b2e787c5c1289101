import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DecisionInput, decideItem, type Evidence } from './tree-decision.ts';
import type { TreeItem } from './tree-item.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const OF_PARTS = `${MD5}-2`;
const MIB = 1024 * 1024;

const file = (more: Partial<TreeItem> = {}): TreeItem => ({
  path: 'a',
  kind: 'file',
  sizeBytes: 10,
  token: 'stat',
  modifiedMs: 5,
  ...more,
});
const object = (more: Partial<TreeItem> = {}): TreeItem => file({ kind: 'object', token: MD5, ...more });

function decide(more: Partial<DecisionInput> = {}) {
  return decideItem({
    source: file(),
    destination: object(),
    recalled: 'unknown',
    compare: 'sizeAndTime',
    update: false,
    immutable: false,
    evidence: {},
    ...more,
  });
}

describe('the decision for an item', () => {
  it('that is missing or of another size at the destination is to copy it without further checks', () => {
    expect(decide({ destination: undefined })).toEqual({ do: 'copy', why: 'absent' });
    expect(decide({ destination: object({ sizeBytes: 11 }) })).toEqual({ do: 'copy', why: 'size' });
    expect(decide({ destination: object({ sizeBytes: 11 }), compare: 'sizeOnly' })).toEqual({
      do: 'copy',
      why: 'size',
    });
  });

  it('that the index knows to be equal, or that has the same size in size-only mode, is to keep it', () => {
    expect(decide({ recalled: 'equal' })).toEqual({ do: 'same' });
    expect(decide({ recalled: 'equal', compare: 'checksum' })).toEqual({ do: 'same' });
    expect(decide({ compare: 'sizeOnly' })).toEqual({ do: 'same' });
  });

  it('that the index knows to be equal only by time is to check content in checksum mode', () => {
    expect(decide({ recalled: 'equalByTime' })).toEqual({ do: 'same' });
    expect(decide({ recalled: 'equalByTime', compare: 'checksum' })).toEqual({ do: 'look', at: 'hash' });
  });

  it('that was uploaded in parts on both sides uses its etags only when they are equal', () => {
    const parts = (count: number) => object({ token: `${MD5}-${count}` });
    expect(decide({ source: parts(2), destination: parts(2) })).toEqual({ do: 'look', at: 'hash' });
    expect(decide({ source: parts(2), destination: parts(3) })).toEqual({ do: 'look', at: 'head' });
    const random = object({ token: 'made up by the store' });
    expect(decide({ source: random, destination: random })).toEqual({ do: 'look', at: 'head' });
  });

  it('uses MD5 for a small file and the times for a large one', () => {
    expect(decide()).toEqual({ do: 'look', at: 'hash' });
    expect(decide({ destination: object({ token: OF_PARTS }) })).toEqual({ do: 'look', at: 'head' });
    const large = { source: file({ sizeBytes: 2 * MIB }), destination: object({ sizeBytes: 2 * MIB }) };
    expect(decide(large)).toEqual({ do: 'look', at: 'head' });
    const objects = { source: object({ sizeBytes: 2 * MIB }), destination: object({ sizeBytes: 2 * MIB }) };
    expect(decide(objects), 'two etags cost nothing').toEqual({ do: 'look', at: 'hash' });
  });

  it('with equal times is to keep it; with different times its content decides', () => {
    const large = {
      source: file({ sizeBytes: 2 * MIB }),
      destination: object({ sizeBytes: 2 * MIB, token: OF_PARTS }),
    };
    const looked = ['head'] as const;
    expect(decide({ ...large, evidence: { looked, sourceMtimeNs: 1n, destinationMtimeNs: 1n } })).toEqual({
      do: 'same',
    });
    const differ: Evidence = { looked, sourceMtimeNs: 2n, destinationMtimeNs: 1n };
    expect(decide({ ...large, evidence: differ })).toEqual({ do: 'look', at: 'content' });
    expect(decide({ ...large, evidence: { ...differ, content: 'equal' } })).toEqual({ do: 'touch' });
    expect(decide({ ...large, evidence: { ...differ, content: 'differs' } })).toEqual({
      do: 'copy',
      why: 'content',
    });
  });

  it('that an interrupted run may have written is to check content, whatever its size and time', () => {
    const times = { sourceMtimeNs: 5n, destinationMtimeNs: 5n };
    const inDoubt = (more: Partial<DecisionInput> = {}) =>
      decide({ destination: file(), isInDoubt: true, evidence: times, ...more });
    const looked = { do: 'look', at: 'content' };
    expect(inDoubt()).toEqual(looked);
    expect(inDoubt({ compare: 'sizeOnly' })).toEqual(looked);
    expect(inDoubt({ recalled: 'equalByTime' })).toEqual(looked);
    expect(inDoubt({ source: object() })).toEqual({ do: 'look', at: 'hash' });
    expect(inDoubt({ recalled: 'equal' })).toEqual({ do: 'same' });
    const differs: Evidence = { ...times, content: 'differs', looked: ['content'] };
    expect(inDoubt({ evidence: differs })).toEqual({ do: 'copy', why: 'content' });
    expect(inDoubt({ evidence: differs, compare: 'sizeOnly' })).toEqual({ do: 'copy', why: 'content' });
    const equal: Evidence = { ...times, content: 'equal', looked: ['content'] };
    expect(inDoubt({ evidence: equal })).toEqual({ do: 'same' });
    expect(inDoubt({ evidence: { ...equal, destinationMtimeNs: 6n } })).toEqual({ do: 'touch' });
  });

  it('with equal content also compares the time and sets that of the source', () => {
    const hashed: Evidence = { looked: ['hash'], content: 'equal' };
    for (const known of [{ evidence: hashed }, { recalled: 'equalContent' as const }]) {
      expect(decide(known)).toEqual({ do: 'look', at: 'head' });
      const decideAfter = (times: Evidence) =>
        decide({ ...known, evidence: { ...known.evidence, ...times, looked: ['head'] } });
      expect(decideAfter({ sourceMtimeNs: 2n, destinationMtimeNs: 1n })).toEqual({ do: 'touch' });
      expect(decideAfter({ sourceMtimeNs: 2n, destinationMtimeNs: 2n })).toEqual({ do: 'same' });
      expect(decideAfter({ sourceMtimeNs: 2n }), 'the destination keeps none').toEqual({ do: 'same' });
      expect(decideAfter({ destinationMtimeNs: 2n }), 'the source has none to give').toEqual({ do: 'same' });
      expect(decide({ ...known, immutable: true })).toEqual({ do: 'same' });
    }
    expect(decide({ recalled: 'equalContent', compare: 'checksum' })).toEqual({ do: 'same' });
  });

  it('keeps a newer destination in update mode', () => {
    const evidence: Evidence = {
      looked: ['hash', 'head'],
      content: 'differs',
      sourceMtimeNs: 1n,
      destinationMtimeNs: 2n,
    };
    expect(decide({ update: true, evidence })).toEqual({ do: 'skip', why: 'newerAtDestination' });
    const older = { ...evidence, sourceMtimeNs: 3n };
    expect(decide({ update: true, evidence: older })).toEqual({ do: 'copy', why: 'content' });
    expect(decide({ update: true, destination: object({ sizeBytes: 1 }) })).toEqual({
      do: 'look',
      at: 'head',
    });
  });

  it('keeps a newer time at the destination in update mode even if the content is equal', () => {
    const evidence: Evidence = {
      looked: ['hash', 'head'],
      content: 'equal',
      sourceMtimeNs: 1n,
      destinationMtimeNs: 2n,
    };
    expect(decide({ evidence })).toEqual({ do: 'touch' });
    expect(decide({ update: true, evidence })).toEqual({ do: 'skip', why: 'newerAtDestination' });
    const older = { ...evidence, sourceMtimeNs: 3n };
    expect(decide({ update: true, evidence: older })).toEqual({ do: 'touch' });
  });

  it('that is immutable keeps its time too, and is equal while its content is', () => {
    const times = { sourceMtimeNs: 1n, destinationMtimeNs: 2n, looked: ['head'] as const };
    const immutable = { immutable: true, destination: object({ token: OF_PARTS }) };
    expect(decide({ ...immutable, evidence: times })).toEqual({ do: 'look', at: 'content' });
    expect(decide({ ...immutable, evidence: { ...times, content: 'equal' } })).toEqual({ do: 'same' });
    expect(decide({ ...immutable, evidence: { ...times, content: 'differs' } })).toEqual({
      do: 'refuse',
      why: 'immutable',
    });
  });

  it('that is immutable is refused when it would change', () => {
    expect(decide({ immutable: true, destination: object({ sizeBytes: 1 }) })).toEqual({
      do: 'refuse',
      why: 'immutable',
    });
    expect(decide({ immutable: true, destination: undefined })).toEqual({ do: 'copy', why: 'absent' });
  });

  it('is final after two informative checks, and every rule holds whatever their result', () => {
    const items = fc.record({
      kind: fc.constantFrom('file' as const, 'object' as const),
      sizeBytes: fc.constantFrom(0, 10, 2 * MIB),
      token: fc.constantFrom('', MD5, OF_PARTS, 'other'),
      modifiedMs: fc.constantFrom(1, 2),
    });
    const found = fc.record(
      { content: fc.constantFrom('equal' as const, 'differs' as const), times: fc.constantFrom(0n, 1n, 2n) },
      { requiredKeys: [] },
    );
    const inputs = fc.record({
      source: items,
      destination: items,
      recalled: fc.constantFrom(
        'unknown' as const,
        'equalContent' as const,
        'equalByTime' as const,
        'equal' as const,
      ),
      compare: fc.constantFrom('sizeAndTime' as const, 'checksum' as const, 'sizeOnly' as const),
      update: fc.boolean(),
      immutable: fc.boolean(),
    });
    fc.assert(
      fc.property(inputs, found, (input, truth) => {
        const source = file(input.source);
        const destination = file(input.destination);
        let evidence: Evidence = {};
        let decision = decide({ ...input, source, destination, evidence });
        let looks = 0;
        for (; decision.do === 'look'; looks += 1) {
          expect(looks).toBeLessThan(truth.content === undefined ? 4 : 2);
          const seen: Evidence =
            decision.at === 'head'
              ? truth.times === undefined
                ? {}
                : { sourceMtimeNs: 1n, destinationMtimeNs: truth.times }
              : truth.content === undefined
                ? {}
                : { content: truth.content };
          evidence = { ...evidence, ...seen, looked: [...(evidence.looked ?? []), decision.at] };
          decision = decide({ ...input, source, destination, evidence });
        }
        const content = evidence.content ?? (input.recalled === 'equalContent' ? 'equal' : undefined);
        if (decision.do === 'same') {
          expect(source.sizeBytes).toBe(destination.sizeBytes);
          expect(content).not.toBe('differs');
          if (input.compare === 'checksum') expect([content, input.recalled]).toContain('equal');
        }
        if (decision.do === 'touch') expect(content).toBe('equal');
        if (input.immutable) expect(['same', 'skip', 'refuse']).toContain(decision.do);
        const isNewerThere = (evidence.destinationMtimeNs ?? 0n) > 1n;
        if (input.update && isNewerThere) expect(['same', 'skip', 'refuse']).toContain(decision.do);
      }),
      { numRuns: 3_000, seed: 11 },
    );
  });
});
