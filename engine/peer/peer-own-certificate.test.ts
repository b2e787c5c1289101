import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownCertificate } from './peer-own-certificate.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'dray-certificate-'));
  folder = join(parent, 'settings');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

describe('The certificate of a server', () => {
  it('is created once, and reused', async () => {
    const made = await ownCertificate(folder, 'here');
    expect(await ownCertificate(folder, 'here')).toEqual(made);
    expect(readdirSync(folder).sort()).toEqual(['peer-cert.pem', 'peer-key.pem']);
    if (process.platform !== 'win32') expect(statSync(join(folder, 'peer-key.pem')).mode & 0o777).toBe(0o600);
  });

  it('never writes its key through a link at a predictable name', async () => {
    mkdirSync(folder);
    const elsewhere = join(parent, 'elsewhere');
    symlinkSync(elsewhere, join(folder, `peer-key.pem.${process.pid}.tmp`));
    await ownCertificate(folder, 'here');
    expect(existsSync(elsewhere)).toBe(false);
  });
});
