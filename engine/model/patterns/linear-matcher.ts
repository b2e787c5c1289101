/**
 * Matches a text against a list of patterns in one pass. A finite automaton that builds only the states that
 * texts reach (Thompson, "Regular Expression Search Algorithm", 1968), as RE2 does.
 *
 * Invariant: no pattern makes it slow. A character costs a table lookup, or, for a new state, at most one
 * step for each part of the patterns. JavaScript's own regular expressions backtrack: with many stars their
 * time grows as a high power of the text's length. The memory for states is bounded: when it is full, all
 * states are dropped and built again.
 */

export interface LinearPattern {
  readonly parts: readonly Part[];
  /**
   * The match may begin after any `/`; otherwise at the start of the text. It always ends at the end of the
   * text.
   */
  readonly isFloating: boolean;
}

/** A part of a pattern, which is a sequence of parts. */
export type Part =
  | { readonly kind: 'one'; readonly accepts: (codePoint: number) => boolean }
  /** Zero or more times. */
  | { readonly kind: 'many'; readonly of: readonly Part[] }
  | { readonly kind: 'either'; readonly of: readonly (readonly Part[])[] }
  /** The text may also end here. */
  | { readonly kind: 'end' };

const SLASH_CODE = 0x2f;

export const SLASH: Part = { kind: 'one', accepts: (code) => code === SLASH_CODE };
export const NOT_SLASH: Part = { kind: 'one', accepts: (code) => code !== SLASH_CODE };
/** Any text. */
export const ANY: Part = { kind: 'many', of: [{ kind: 'one', accepts: () => true }] };
/** Any text without a slash. */
export const SOME: Part = { kind: 'many', of: [NOT_SLASH] };

export interface LinearMatcher {
  /** The indexes of the matching patterns, ascending. */
  matchesOf(text: string): readonly number[];
}

interface Node {
  readonly accepts?: (codePoint: number) => boolean;
  readonly pattern?: number;
  to: readonly number[];
}

interface State {
  /** Only nodes that accept a character. */
  readonly ids: readonly number[];
  readonly matched: readonly number[];
  readonly ascii: (State | undefined)[];
  readonly beyond: Map<number, State>;
}

const ASCII_MAX = 127;
const SURROGATES_MIN = 0xd800;
const SURROGATES_MAX = 0xdfff;
/** The most ids and slots of all states of a matcher: about 16 MiB. */
const ROOM = 1 << 20;

export function createLinearMatcher(patterns: readonly LinearPattern[]): LinearMatcher {
  const nodes: Node[] = [];
  const entries = addPatterns(nodes, patterns);
  const states = createStates(nodes);
  let first: State | undefined;

  function step(state: State, codePoint: number): State {
    const targets: number[] = [];
    for (const id of state.ids) {
      const { accepts, to } = nodes[id]!;
      if (accepts!(codePoint)) targets.push(...to);
    }
    if (states.isFull()) {
      states.clear();
      first = undefined;
      return states.of(targets);
    }
    const next = states.of(targets);
    if (codePoint <= ASCII_MAX) state.ascii[codePoint] = next;
    else state.beyond.set(codePoint, next);
    states.take(1);
    return next;
  }

  return {
    matchesOf(text) {
      first ??= states.of(entries);
      let state = first;
      for (let at = 0; at < text.length; at += 1) {
        let code = text.charCodeAt(at);
        if (code >= SURROGATES_MIN && code <= SURROGATES_MAX) {
          code = text.codePointAt(at)!;
          if (code > SURROGATES_MAX) at += 1;
        }
        state = (code <= ASCII_MAX ? state.ascii[code] : state.beyond.get(code)) ?? step(state, code);
        if (state.ids.length === 0 && state.matched.length === 0) break;
      }
      return state.matched;
    },
  };
}

/** @returns the nodes where matching begins. */
function addPatterns(nodes: Node[], patterns: readonly LinearPattern[]): readonly number[] {
  const floating: Node = { to: [] };
  const afterSlash = nodes.push(floating) - 1;
  const rooted: number[] = [];
  const starts: number[] = [];
  for (const [pattern, { isFloating, parts }] of patterns.entries()) {
    const end = nodes.push({ pattern, to: [] }) - 1;
    (isFloating ? starts : rooted).push(addParts(nodes, { parts, next: end, end }));
  }
  if (starts.length === 0) return rooted;
  floating.to = starts;
  // One shared search for slashes for all patterns, so that a state between slashes is small.
  const search = addParts(nodes, { parts: [ANY, SLASH], next: afterSlash, end: afterSlash });
  return [...rooted, afterSlash, search];
}

interface Sequence {
  readonly parts: readonly Part[];
  /** The node that follows the sequence, and the one for the end of the pattern. */
  readonly next: number;
  readonly end: number;
}

/** @returns the first node of the parts. */
function addParts(nodes: Node[], { end, next, parts }: Sequence): number {
  return parts.reduceRight((after, part) => addPart(nodes, { part, next: after, end }), next);
}

function addPart(nodes: Node[], { end, next, part }: Omit<Sequence, 'parts'> & { part: Part }): number {
  const add = (node: Node) => nodes.push(node) - 1;
  switch (part.kind) {
    case 'one':
      return add({ accepts: part.accepts, to: [next] });
    case 'many': {
      const fork: Node = { to: [] };
      const id = add(fork);
      fork.to = [addParts(nodes, { parts: part.of, next: id, end }), next];
      return id;
    }
    case 'either':
      return add({ to: part.of.map((parts) => addParts(nodes, { parts, next, end })) });
    case 'end':
      return add({ to: [next, end] });
  }
}

/** All states built so far, each stored once. */
function createStates(nodes: readonly Node[]) {
  const known = new Map<string, State>();
  const seenIn = new Uint32Array(nodes.length);
  let round = 0;
  let room = ROOM;

  /** The nodes that these reach without reading a character. */
  function close(targets: readonly number[]): { readonly ids: number[]; readonly matched: number[] } {
    const ids: number[] = [];
    const matched: number[] = [];
    const open = [...targets];
    round = (round + 1) >>> 0;
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (seenIn[id] === round) continue;
      seenIn[id] = round;
      const { accepts, pattern, to } = nodes[id]!;
      if (accepts) ids.push(id);
      else if (pattern !== undefined) matched.push(pattern);
      else open.push(...to);
    }
    const ascending = (one: number, other: number) => one - other;
    return { ids: ids.sort(ascending), matched: matched.sort(ascending) };
  }

  return {
    of(targets: readonly number[]): State {
      const { ids, matched } = close(targets);
      const key = `${ids.join()};${matched.join()}`;
      let state = known.get(key);
      if (!state) {
        state = { ids, matched, ascii: new Array(ASCII_MAX + 1), beyond: new Map() };
        known.set(key, state);
        room -= ids.length + matched.length + ASCII_MAX;
      }
      return state;
    },
    isFull: () => room <= 0,
    take(slots: number) {
      room -= slots;
    },
    clear() {
      known.clear();
      room = ROOM;
    },
  };
}
