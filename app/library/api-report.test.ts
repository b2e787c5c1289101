import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { makeLibraryTypes } from '../build/library-types.ts';

const OWN_NAMES = [
  'CommitBuilder',
  'CommitInfo',
  'CommitOutcome',
  'CommitRecordOptions',
  'DrayOptions',
  'FileChange',
  'FileOptions',
  'ListOptions',
  'RangeOptions',
  'Ref',
  'Repository',
  'StopOptions',
  'VersionEntry',
  'Workspace',
];

/** Uses every kind of name, and makes mistakes that the types must find. */
const PROGRAM = `
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CommitOutcome, copy, DrayError, type DrayEvent, openRepository, openWorkspace } from 'dray';

export async function use(signal: AbortSignal): Promise<CommitOutcome> {
  const onEvent = (event: DrayEvent) => {
    if (event.type === 'progress') console.log(event.bytesDone, event.bytesTotal ?? 0);
  };
  await using repository = await openRepository('s3://bucket/birds', { signal, onEvent });
  for await (const entry of repository.list('main', { signal })) console.log(entry.modified?.getTime());
  for await (const { after } of repository.diff('v1', 'main')) console.log(after?.sizeBytes);
  await pipeline(repository.read('main', 'a', { start: 1 }), createWriteStream('a'));
  const { changes } = await openWorkspace('.').push({ message: 'm', signal });
  await copy('a', 'b', { compare: 'checksum', signal }).catch((error: unknown) => {
    if (error instanceof DrayError && error.code === 'notFound') console.log(error.data, changes.added);
  });
  return repository
    .commit('main')
    .put('node', createReadStream('a'), { modified: new Date(0), executable: true })
    .put('web', new Response('a').body!)
    .put('text', Readable.from(['a']))
    .put('later', () => createReadStream('a'))
    .delete('folder/')
    .publish({ message: 'm', signal });
}
// @ts-expect-error
void openRepository(7);
// @ts-expect-error
void openRepository('a').then((repository) => repository.commit('main').put('a', 7));
`;

let types: Awaited<ReturnType<typeof makeLibraryTypes>>;
beforeAll(async () => {
  types = await makeLibraryTypes();
});

/** `DRAY_API=write` takes a change of the interface over. */
it('the library has the interface that its report says', () => {
  const path = fileURLToPath(new URL('dray.api.md', import.meta.url));
  const { declarations, report } = types;
  if (process.env.DRAY_API === 'write') writeFileSync(path, report);
  expect(report).toBe(readFileSync(path, 'utf8'));
  // Of the library's own names, the members are documented too. A list of codes is no name for programs.
  const undocumented = /\/\/ @public \(undocumented\)\n.*/g;
  expect(report.match(undocumented) ?? []).toEqual([]);
  expect(report.match(/^(?:interface|type|const|class|function) \w+/gm)).toEqual(['const EXIT_CODES']);
  for (const name of OWN_NAMES) {
    const [text] = report.match(new RegExp(`^export interface ${name}\\b[^]*?^}`, 'm'))!;
    expect(text).not.toContain('(undocumented)');
  }
  for (const name of ['openRepository', 'openWorkspace', 'copy', 'DrayError'])
    expect(declarations).toMatch(new RegExp(`export declare (?:async )?(?:function|class) ${name}\\b`));
  expect(declarations, 'needs no file of the sources').not.toMatch(/from '\.\.?\//);
});

it.each([
  ['node16', 'node16'],
  ['esnext', 'bundler'],
])(
  'strict programs with modules of %s, found as by %s, use it with its types',
  (module, moduleResolution) => {
    using sandbox = createSandbox();
    const root = new URL('../../', import.meta.url);
    sandbox.write('node_modules/dray/package.json', readFileSync(new URL('package.json', root)));
    sandbox.write('node_modules/dray/dist/library.d.ts', types.declarations);
    sandbox.write('package.json', '{"type":"module"}');
    sandbox.write('program.ts', PROGRAM);
    const typeRoots = [fileURLToPath(new URL('node_modules/@types', root))];
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const compilerOptions = { ...strict, module, moduleResolution, target: 'es2022', noEmit: true };
    const options = { ...compilerOptions, types: ['node'], typeRoots };
    const config = { compilerOptions: options, files: ['program.ts'] };
    const path = sandbox.write('tsconfig.json', JSON.stringify(config));
    const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
    const run = () => execFileSync(process.execPath, [compiler, '-p', path], { encoding: 'utf8' });
    expect(run).not.toThrow();
  },
);
