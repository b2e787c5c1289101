import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeElectron } from './electron.fixture.ts';
import { registerOwnScheme, serveOwnScheme } from './own-protocol.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-desktop-'));
  mkdirSync(join(root, 'window', 'assets'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  writeFileSync(join(root, 'window', 'index.html'), '<!doctype html>');
  writeFileSync(join(root, 'window', 'assets', 'main-1a2b.js'), 'export {};');
  writeFileSync(join(root, 'window', 'assets', 'main-1a2b.js.br'), 'compressed');
  symlinkSync(join(root, 'secret.txt'), join(root, 'window', 'link.txt'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function serve() {
  const fake = createFakeElectron({ userData: root });
  registerOwnScheme(fake.electron);
  await fake.app.whenReady();
  serveOwnScheme(fake.electron, join(root, 'window'));
  return fake.page.fetches;
}

describe('the own scheme', () => {
  it('serves the built files, with their type and a policy that allows no outside script', async () => {
    const fetches = await serve();
    const page = await fetches('dray-app://window/index.html');
    expect(await page.text()).toBe('<!doctype html>');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    const script = await fetches('dray-app://window/assets/main-1a2b.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  it.each([
    'dray-app://window/../secret.txt',
    'dray-app://window/..%2fsecret.txt',
    'dray-app://window/%2e%2e/secret.txt',
    'dray-app://window/..\\secret.txt',
    'dray-app://window//etc/passwd',
    'dray-app://window/assets/../../secret.txt',
    'dray-app://window/index.html%00.png',
    'dray-app://window/link.txt',
    'dray-app://window/assets',
    'dray-app://window/assets/main-1a2b.js.br',
    'dray-app://window/',
    'dray-app://elsewhere/index.html',
    'dray-app://user@window/index.html',
    'dray-app://window:80/index.html',
    'dray-app://window.example/index.html',
  ])('does not serve %s', async (url) => {
    const response = await (await serve())(url);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('');
  });

  it('accepts only GET and HEAD', async () => {
    const fetches = await serve();
    expect((await fetches('dray-app://window/index.html', 'POST')).status).toBe(405);
    expect(await (await fetches('dray-app://window/index.html', 'HEAD')).text()).toBe('');
  });

  it('fails if the window was not built, instead of showing an empty one', async () => {
    const fake = createFakeElectron({ userData: root });
    await fake.app.whenReady();
    expect(() => serveOwnScheme(fake.electron, join(root, 'window', 'assets'))).toThrow('no built window');
  });
});
