/**
 * Runs the bundled desktop app in Node with a fake `electron`, to show that the bundle is complete, finds its
 * threads, and runs saved jobs.
 */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFakeElectron } from './electron.fixture.ts';

/** The last one: a file that a saved job makes. */
const [, , built = '', userData = '', made = ''] = process.argv;
const loaded = Promise.withResolvers<void>();
const fake = createFakeElectron({ userData, whenLoaded: loaded.promise });
const names = Object.keys(fake.electron);
Object.assign(globalThis, { fakeElectron: fake.electron });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: 'fake:electron', format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === 'fake:electron'
      ? {
          format: 'module',
          shortCircuit: true,
          source: `export const { ${names.join(', ')} } = globalThis.fakeElectron;`,
        }
      : next(url, context),
});

await import(pathToFileURL(join(built, 'desktop', 'main.js')).href);
loaded.resolve();
while (fake.windows.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

const { webContents: contents } = fake.windows[0]!;
const url = contents.getURL();
const { status } = await fake.page.fetches(url);
fake.page.sends({ contents }, 'dray:port');
const port = contents.sent[0]!.ports[0]!;
const heard = new Promise((resolve) => port.on('message', ({ data }) => resolve(data)));
port.start();
port.postMessage({ do: 'ask', id: 1, name: 'home.list', input: {} });
while (made !== '' && !existsSync(made)) await new Promise((resolve) => setTimeout(resolve, 20));
process.stdout.write(JSON.stringify({ url, status, answer: await heard }));
fake.app.quit();
while (!fake.app.hasQuit) await new Promise((resolve) => setTimeout(resolve, 5));
