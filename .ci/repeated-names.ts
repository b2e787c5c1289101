/** Finds exports of the engine and the app that share a name: a name has one meaning in both. */
import { exportsOf } from './unused-exports.ts';

export interface RepeatedName {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** A single word, such as `get`, is a verb of its module and not the name of one thing. */
const ONE_WORD = /^[a-z]+$/;

/** Fixtures and tests are left out. @param sources Path (relative to the project, with `/`) to content. */
export function findRepeatedNames(sources: ReadonlyMap<string, string>): RepeatedName[] {
  const first = new Map<string, string>();
  const repeated: RepeatedName[] = [];
  for (const [file, source] of sources) {
    if (!/^(?:engine|app)\//.test(file) || /\.(?:test|bench|fixture)\.ts$/.test(file)) continue;
    for (const { name, line } of exportsOf(source)) {
      const known = first.get(name);
      if (known === undefined) first.set(name, file);
      else if (known !== file && !ONE_WORD.test(name))
        repeated.push({ file, line, what: `exports ${name}, which is something else in ${known}` });
    }
  }
  return repeated;
}
