/**
 * Loads Node's own modules that most runs never use at the first use of one of their names instead of at the
 * import. In CommonJS an import is a `require`, so a bundle would load at its start what only one command
 * needs: each module takes 1 to 4 ms.
 */
import type { Plugin } from 'esbuild';

/** All their exports are functions and classes that are read when called and never replaced. */
const LAZY = [
  'child_process',
  'fs/promises',
  'http',
  'https',
  'readline',
  'readline/promises',
  'stream/promises',
  'tls',
  'v8',
  'worker_threads',
  'zlib',
];

/** `assert` itself is called directly; only a failure, or another of its checks, needs the module. */
const ASSERT = ['assert', 'assert/strict'];

const NAMESPACE = 'lazy-builtin';

export function lazyBuiltins(): Plugin {
  return {
    name: 'lazy-builtins',
    setup(build) {
      const names = [...LAZY, ...ASSERT].join('|');
      build.onResolve({ filter: new RegExp(`^(?:node:)?(?:${names})$`) }, ({ path, namespace }) => {
        if (namespace === NAMESPACE) return { path, external: true };
        return { path: path.replace(/^(?:node:)?/, 'node:'), namespace: NAMESPACE };
      });
      build.onLoad({ filter: /./, namespace: NAMESPACE }, async ({ path }) => {
        const { default: whole, ...names } = await import(path);
        const getters = Object.keys(names).map(
          (name) => `get ${JSON.stringify(name)}() { return load()[${JSON.stringify(name)}]; },`,
        );
        const object = `{\n${getters.join('\n')}\n}`;
        const exports =
          typeof whole === 'function'
            ? `const check = (value, message) => { if (!value) load()(value, message); };
              module.exports = Object.defineProperties(check, Object.getOwnPropertyDescriptors(${object}));`
            : `module.exports = ${object};`;
        return {
          contents: `const load = () => require('${path}');\n${exports}`,
          loader: 'js',
        };
      });
    },
  };
}
