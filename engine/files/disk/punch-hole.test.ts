import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPunchHole } from './punch-hole.ts';

describe('punching a hole', () => {
  it('leaves zeros that take no room, keeps the size, or says that it cannot', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-hole-'));
    try {
      const path = join(folder, 'file');
      const content = Buffer.alloc(1024 * 1024, 7);
      writeFileSync(path, content);
      const before = statSync(path);
      const punch = await loadPunchHole();
      const fd = openSync(path, 'r+');
      const isPunched = punch(fd, 128 * 1024, 512 * 1024);
      closeSync(fd);
      const after = statSync(path);
      expect(after.size).toBe(before.size);
      if (isPunched) content.fill(0, 128 * 1024, 640 * 1024);
      expect(readFileSync(path).equals(content)).toBe(true);
      expect(after.blocks).toBeLessThanOrEqual(before.blocks);
      expect(punch(-1, 0, 4096)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
