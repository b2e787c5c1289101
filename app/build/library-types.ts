/**
 * The library's declaration file, and a report of its interface, which is kept beside the source so that a
 * change of it shows in review.
 *
 *     node app/build/library-types.ts writes `dist/library.d.ts` (`prepack`)
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = 'app/library/dray';

interface LibraryTypes {
  readonly declarations: string;
  readonly report: string;
}

/** @throws Error with the compiler's or the extractor's message */
export async function makeLibraryTypes(): Promise<LibraryTypes> {
  const folder = await mkdtemp(join(tmpdir(), 'dray-types-'));
  try {
    await emitDeclarations(folder);
    return await joinDeclarations(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function emitDeclarations(folder: string): Promise<void> {
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: folder,
    rootDir: ROOT,
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  const ambient = 'engine/checksums/webassembly.d.ts';
  const files = [join(ROOT, `${ENTRY}.ts`), join(ROOT, ambient)];
  await writeFile(
    config,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files }),
  );
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config]);
}

async function joinDeclarations(folder: string): Promise<LibraryTypes> {
  const entry = join(folder, `${ENTRY}.d.ts`);
  const paths = { declarations: join(folder, 'library.d.ts'), report: join(folder, 'report') };
  await mkdir(paths.report);
  const compilerOptions = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    skipLibCheck: true,
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const messages: string[] = [];
  const { succeeded } = Extractor.invoke(
    ExtractorConfig.prepare({
      configObject: {
        projectFolder: folder,
        mainEntryPointFilePath: entry,
        compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
        apiReport: {
          enabled: true,
          reportFileName: 'dray.api.md',
          reportFolder: paths.report,
          reportTempFolder: paths.report,
          includeForgottenExports: true,
        },
        dtsRollup: { enabled: true, untrimmedFilePath: paths.declarations },
        docModel: { enabled: false },
        tsdocMetadata: { enabled: false },
        newlineKind: 'lf',
      },
      configObjectFullPath: undefined,
      packageJsonFullPath: join(ROOT, 'package.json'),
    }),
    {
      localBuild: true,
      messageCallback: (message) => {
        message.handled = true;
        if (message.logLevel === 'error') messages.push(message.text);
      },
    },
  );
  if (!succeeded) throw new Error(`The library's interface cannot be described: ${messages.join(' ')}`);
  const [declarations, report] = await Promise.all([
    readFile(paths.declarations, 'utf8'),
    readFile(join(paths.report, 'dray.api.md'), 'utf8'),
  ]);
  return { declarations, report };
}

if (import.meta.main) {
  const { declarations } = await makeLibraryTypes();
  await writeFile(join(ROOT, 'dist/library.d.ts'), declarations);
}
