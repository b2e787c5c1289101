/** The licences of a bundle's packages in one text: most of them must be distributed with the code. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @param inputs Paths of the files in the bundle, relative to `root`. */
export async function formatThirdPartyLicenses(root: string, inputs: Iterable<string>): Promise<string> {
  const folders = new Set<string>();
  for (const input of inputs) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
    if (folder) folders.add(folder);
  }
  const parts = await Promise.all([...folders].sort().map((folder) => formatPackage(join(root, folder))));
  return `Dray contains code of these packages.\n\n${parts.join('\n')}`;
}

async function formatPackage(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const names = (await readdir(folder)).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const title = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see its package'})`;
  return `${title}\n${'-'.repeat(title.length)}\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`;
}
