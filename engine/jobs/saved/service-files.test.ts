import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceFile } from './service-files.ts';

const odd = '/home/me/my "dray" 100% $HOME \\ <&>';
const request = {
  command: [process.execPath, odd, 'job', 'serve', '--login'] as const,
  environment: { DRAY_CONFIG: odd },
  home: '/home/me',
};
const isThere = (program: string) => !spawnSync(program, ['--version']).error;

describe('the definition of a service', () => {
  it('for systemd quotes every word, and knows nothing that systemd would expand', () => {
    const { path, text } = serviceFile({ ...request, kind: 'systemd' });
    expect(path).toBe(join('/home/me', '.config', 'systemd', 'user', 'dray-jobs.service'));
    expect(text).toContain('"/home/me/my \\"dray\\" 100%% $$HOME \\\\ <&>" "job" "serve" "--login"\n');
    expect(text).toContain('Environment="DRAY_CONFIG=/home/me/my \\"dray\\" 100%% $HOME \\\\ <&>"\n');
  });

  it.skipIf(!isThere('systemd-analyze'))('for systemd passes systemd-analyze (where it is installed)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-unit-'));
    try {
      const path = join(folder, 'dray-jobs.service');
      writeFileSync(path, serviceFile({ ...request, kind: 'systemd' }).text);
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', path], {
        encoding: 'utf8',
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
      });
      expect(stderr.split('\n').filter((line) => line.includes('dray-jobs'))).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.skipIf(!isThere('python3'))('for launchd is a property list with the same words (by python3)', () => {
    const { text } = serviceFile({ ...request, kind: 'launchd' });
    const script = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const list = JSON.parse(execFileSync('python3', ['-c', script], { input: text, encoding: 'utf8' }));
    expect(list).toMatchObject({
      ProgramArguments: request.command,
      EnvironmentVariables: request.environment,
      RunAtLoad: true,
    });
  });

  it.skipIf(!isThere('python3'))('for Windows is XML with quoted words (by python3)', () => {
    const { text } = serviceFile({ ...request, kind: 'windows' });
    const script =
      'import sys, xml.etree.ElementTree as e; r = e.fromstring(sys.stdin.buffer.read()); print(r.find(".//{*}Arguments").text)';
    const words = execFileSync('python3', ['-c', script], { input: text, encoding: 'utf8' }).trim();
    expect(words).toBe('"/home/me/my \\"dray\\" 100% $HOME \\ <&>" "job" "serve" "--login"');
  });

  it('is enabled where it was written, and its path cannot run as a command', () => {
    const path = "/tmp/it's $(x)/mine.service";
    for (const kind of ['systemd', 'launchd'] as const) {
      const { enable } = serviceFile({ ...request, kind, path });
      expect(enable.endsWith(` '/tmp/it'\\''s $(x)/mine.service'`)).toBe(true);
    }
    expect(serviceFile({ ...request, kind: 'windows', path: 'C:/a.xml' }).enable).toContain(
      '/XML "C:/a.xml"',
    );
  });

  it('refuses a line break, which would begin another setting', () => {
    const command = ['/dray\nExecStart=/bin/evil'] as const;
    expect(() => serviceFile({ ...request, command, kind: 'systemd' })).toThrow(/control character/);
  });
});
